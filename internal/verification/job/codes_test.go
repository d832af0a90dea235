package job

import (
	"strings"
	"testing"
)

// TestMessagesNameEveryCause: a code that stands for several causes must not name one of
// them alone, which would be false of the others.
func TestMessagesNameEveryCause(t *testing.T) {
	for code, causes := range map[Code][]string{
		UnsupportedToolchain: {"compiler", "scripts", "plugins", "options"},
		InvalidPackage:       {"manifest", "package", "target", "contract"},
		BuildLimitExceeded:   {"time", "memory", "room"},
	} {
		for _, cause := range causes {
			if text := Message(code); !strings.Contains(text, cause) {
				t.Errorf("%s may be because of %s: %s", code, cause, text)
			}
		}
	}
}
