package client_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"chainexplorer/client"
)

// TestCheckReceipt reads the vectors that verifiers in other languages are held against.
func TestCheckReceipt(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "internal", "verification", "receipt", "testdata", "vectors.json"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Now     time.Time       `json:"now"`
		Trust   json.RawMessage `json:"trust"`
		Vectors []struct{ Name, Receipt, Want string }
	}
	if err := json.Unmarshal(text, &file); err != nil || len(file.Vectors) < 10 {
		t.Fatalf("%d vectors: %v", len(file.Vectors), err)
	}
	believed, refused := 0, 0
	for _, v := range file.Vectors {
		got, err := client.CheckReceipt([]byte(v.Receipt), client.ReceiptCheck{Trust: file.Trust, Now: file.Now})
		if v.Want != "" {
			var refusal *client.ReceiptRefusal
			if err == nil || !strings.Contains(err.Error(), v.Want) {
				t.Errorf("%s: %v, want %q", v.Name, err, v.Want)
			}
			if errors.As(err, &refusal) {
				refused++
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", v.Name, err)
			continue
		}
		believed++
		var is client.VerificationReceipt
		if err := json.Unmarshal([]byte(v.Receipt), &is); err != nil { // a number in a form that the service never writes
			if got.Evidence.Declaration.BlockNumber == 0 {
				t.Errorf("%s: %v", v.Name, err)
			}
			continue
		}
		if !reflect.DeepEqual(got.Evidence, is.Evidence) || got.KeyID != is.KeyID || got.LogOrigin != "" {
			t.Errorf("%s: %+v", v.Name, got)
		}
		// What the client read of an answer can be written again and checked.
		again, err := json.Marshal(&is)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := client.CheckReceipt(again, client.ReceiptCheck{Trust: file.Trust, Now: file.Now}); err != nil {
			t.Errorf("%s, written again: %v", v.Name, err)
		}
		if _, err := client.CheckReceipt([]byte(v.Receipt), client.ReceiptCheck{Trust: file.Trust, Now: file.Now, LogKey: "k"}); err == nil {
			t.Errorf("%s: a key of a log without a proof", v.Name)
		}
	}
	if believed == 0 || refused == 0 {
		t.Errorf("%d believed, %d refused", believed, refused)
	}
}
