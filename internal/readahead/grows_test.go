package readahead

import (
	"os"
	"testing"

	"github.com/iwdissect/iwdissect/internal/pcapng"
)

// TestReader_Grows: what is written to a file while it is read belongs to it.
func TestReader_Grows(t *testing.T) {
	path, octets := file(t, 6, pcapng.PCAPNG)
	cut := len(octets) - len(octets)/3
	if err := os.WriteFile(path, octets[:cut], 0o600); err != nil {
		t.Fatal(err)
	}
	f := open(t, path)
	r := Start(f, Options{})
	defer r.Close()
	out, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = out.Write(octets[cut:])
	if out.Close(); err != nil {
		t.Fatal(err)
	}
	frames := 0
	for b := r.Next(); b != nil; b = r.Next() {
		frames += b.Len()
	}
	if want := len(direct(open(t, path))) - 1; frames != want {
		t.Errorf("%d frames, want %d", frames, want)
	}
}
