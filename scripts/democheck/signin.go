package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
)

var (
	linkLine = regexp.MustCompile(`Sign in\s+(http://\S+)`)
	field    = regexp.MustCompile(`<input type="hidden" name="([a-z]+)" value="([^"]*)">`)
)

// signIn follows the link that the demo printed as a browser does, and reads what only
// somebody who is signed in can read.
func (d *demo) signIn(ctx context.Context) error {
	if d.link == "" {
		return errors.New("the demo printed no link to sign in with")
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		return err
	}
	browser := &http.Client{Jar: jar}
	ask := func(method, at string, form url.Values) (string, error) {
		req, err := http.NewRequestWithContext(ctx, method, at, strings.NewReader(form.Encode()))
		if err != nil {
			return "", err
		}
		if form != nil {
			req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			req.Header.Set("Origin", d.base)
		}
		res, err := browser.Do(req)
		if err != nil {
			return "", err
		}
		defer res.Body.Close() //nolint:errcheck // read to its end
		body, err := io.ReadAll(res.Body)
		if err == nil && res.StatusCode != http.StatusOK {
			err = fmt.Errorf("%s %s: %d: %.300s", method, req.URL.Path, res.StatusCode, body)
		}
		return string(body), err
	}
	page, err := ask(http.MethodGet, d.link, nil)
	if err != nil {
		return err
	}
	form := url.Values{}
	for _, m := range field.FindAllStringSubmatch(page, -1) {
		form.Set(m[1], m[2])
	}
	at, _, _ := strings.Cut(d.link, "?")
	if _, err := ask(http.MethodPost, at, form); err != nil {
		return err
	}
	for _, path := range []string{"/v1/me/api-keys", "/v1/me/usage"} {
		if _, err := ask(http.MethodGet, d.base+path, nil); err != nil {
			return err
		}
	}
	return nil
}
