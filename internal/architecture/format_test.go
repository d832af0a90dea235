package architecture

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"chainexplorer/internal/explorer/catalog"
	"chainexplorer/internal/explorer/chain"
)

// TestFormatPageIsOfThisLayout compares the page that describes the index with
// the layout that the program writes, and with its list of tables.
func TestFormatPageIsOfThisLayout(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "format.md"))
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)
	if want := fmt.Sprintf("layout **%d**", chain.Layout); !strings.Contains(page, want) {
		t.Errorf("docs/format.md does not describe %s", want)
	}
	for _, table := range catalog.Tables() {
		if row := fmt.Sprintf("\n| %d | `%s` |", table.ID, table.Name); !strings.Contains(page, row) {
			t.Errorf("docs/format.md has no row %q", strings.TrimSpace(row))
		}
	}
}
