package postgres_test

import (
	"os"
	"testing"
)

// citusDatabase is the address of a real Citus cluster. The tests make schemas
// of their own in it and drop them.
func citusDatabase(t *testing.T) string {
	url := os.Getenv("TEST_CITUS_URL")
	if url == "" {
		t.Skip("TEST_CITUS_URL is not set")
	}
	return url
}
