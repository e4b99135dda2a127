package tracetest

import (
	"os"
	"strings"
	"testing"
)

// Names are those of the files in a folder, with blanks between them.
func Names(t testing.TB, dir string) string {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	all := make([]string, 0, len(list))
	for _, e := range list {
		all = append(all, e.Name())
	}
	return strings.Join(all, " ")
}
