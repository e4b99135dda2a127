package readahead

import (
	"os"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/internal/pcapng"
)

// TestReader_Shorter: a file that becomes shorter while it is read, mapped into memory, gives an
// error that says so, in the goroutine that reads and in the one that uses the frames.
func TestReader_Shorter(t *testing.T) {
	path, octets := file(t, 4, pcapng.PCAP)
	f := open(t, path)
	r := Start(f, Options{Always: true})
	defer r.Close()
	if r.mapped == nil {
		t.Skip("files are not mapped on this file system")
	}
	const kept = 4096
	b := r.Next()
	for b != nil && (b.Len() == 0 || b.Frame(b.Len()-1).Pos < 2*kept) {
		b = r.Next()
	}
	if b == nil {
		t.Fatal("there is no frame")
	}
	if err := os.Truncate(path, kept); err != nil {
		t.Fatal(err)
	}
	use := func() (err error) {
		defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
		defer func() { err = r.Lost(recover()) }()
		data := b.Frame(b.Len() - 1).Data
		t.Errorf("the octet %d is still there", data[len(data)-1])
		return nil
	}
	if err := use(); err == nil || !strings.Contains(err.Error(), "became shorter") || !strings.Contains(err.Error(), path) {
		t.Errorf("who uses a frame gets %v", err)
	}
	var last error
	frames := 0
	for b = r.Next(); b != nil; b = r.Next() {
		frames += b.Len()
		if b.Err != nil {
			last = b.Err
		}
	}
	if last == nil || !strings.Contains(last.Error(), "became shorter") || frames > len(octets)/800 {
		t.Errorf("%d frames, and then %v", frames, last)
	}
	if err := r.Lost("another reason"); err != nil {
		t.Errorf("a panic for another reason is %v", err)
	}
}

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
