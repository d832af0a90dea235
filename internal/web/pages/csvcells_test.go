package pages

import (
	"encoding/csv"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestFormulas: no cell of a file begins as a formula does, whoever chose its text.
func TestFormulas(t *testing.T) {
	for text, want := range map[string]string{
		"=1+1": "'=1+1", "+1": "'+1", "-1": "'-1", "@SUM(1)": "'@SUM(1)", "\t=1": "'\t=1", "\r=1": "'\r=1", "\n=1": "'\n=1", "  =1": "'  =1", "＝1": "'＝1",
		"": "", "0x1": "0x1", "a=1": "a=1", "5": "5",
	} {
		w := httptest.NewRecorder()
		f := newFile(w, false)
		f.row([]string{"first", text})
		if err := f.close(); err != nil {
			t.Fatal(err)
		}
		row, err := csv.NewReader(strings.NewReader(w.Body.String())).Read()
		if err != nil || row[1] != strings.ReplaceAll(want, "\r\n", "\n") {
			t.Errorf("%q becomes %q: %v", text, row, err)
		}
	}
}
