package site

import (
	_ "embed"
	"html/template"

	"chainexplorer/internal/web"
)

// receiptPath is the page that checks receipts in the browser.
const receiptPath = "/verify-receipt"

var (
	//go:embed receipt.html
	receiptHTML string
	//go:embed receipt.js
	receiptJS []byte
)

// receiptPage serves the page and its script. The policy of pages lets it ask nobody.
func (s *Site) receiptPage(lib *library) {
	s.fixed(receiptPath+".js", "text/javascript; charset=utf-8", receiptJS)
	s.Open("GET "+receiptPath, lib.serve(receiptPath, func(setting) (*document, error) {
		html := web.HTML(web.Page{Title: "Check a receipt · Chain Explorer", Description: "Checks a verification receipt in the browser, without a network.",
			Trail: docsTrail(""), Body: template.HTML(receiptHTML), Version: s.Version, Accounts: s.SignsIn(), Chains: s.Chains, Script: receiptPath + ".js"}) //nolint:gosec // a file of ours
		return newDocument(web.ContentType, html), nil
	}))
}
