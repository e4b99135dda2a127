package render

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

// TestTable_Columns: cells stand below each other whatever is in them, and nothing
// stands behind the last one.
func TestTable_Columns(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	rows := [][]string{
		{"0", "é>日本", "", "1"},
		{"10", "\x1b[31mbad\x1b[0m", "x", ""},
		{"", "", "", "12345"},
	}
	if err := table(&b, "Title", []string{"n", "name", "", "size"}, rows, []bool{true, true, false, false}, nil); err != nil {
		t.Fatal(err)
	}
	want := strings.Join([]string{
		"", "Title",
		"n   name        size",
		"0   é>日本         1",
		"10  \x1b[31mbad\x1b[0m     x",
		"               12345",
		"",
	}, "\n")
	if got := b.String(); got != want {
		t.Errorf("the table is\n%q, want\n%q", got, want)
	}
}

// full is a writer with room for n octets.
type full struct{ n int }

func (f *full) Write(b []byte) (int, error) {
	if f.n -= len(b); f.n < 0 {
		return 0, errFull
	}
	return len(b), nil
}

var errFull = errors.New("full")

// TestTable_Errors: no row is lost without a word.
func TestTable_Errors(t *testing.T) {
	t.Parallel()
	if err := table(&full{20}, "Title", []string{"a"}, [][]string{{"first"}, {"second"}, {"third"}}, []bool{true}, nil); !errors.Is(err, errFull) {
		t.Errorf("the error is %v", err)
	}
}

// BenchmarkTable lays out what analyze says of 64 connections.
func BenchmarkTable(b *testing.B) {
	row := []string{"1", "10.0.0.1:40061 > 10.0.0.2:5001", "rev 2 CRC", "16/16 16/16 (depth 16, 16)", "-", "IETF", "accepted", "fin by initiator", "56ms"}
	rows := make([][]string, 64)
	for i := range rows {
		rows[i] = row
	}
	var w bytes.Buffer
	for b.Loop() {
		w.Reset()
		if err := table(&w, "Connections", row, rows, make([]bool, len(row)), nil); err != nil {
			b.Fatal(err)
		}
	}
}
