package cli

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDissect_Sections: the interface of a frame is that of its own section, by number and by
// name.
func TestDissect_Sections(t *testing.T) {
	le := binary.LittleEndian
	block := func(kind uint32, body []byte) (b []byte) {
		for len(body)%4 != 0 {
			body = append(body, 0)
		}
		n := uint32(len(body) + 12)
		b = le.AppendUint32(le.AppendUint32(b, kind), n)
		return le.AppendUint32(append(b, body...), n)
	}
	section := block(0x0a0d0d0a, []byte("\x4d\x3c\x2b\x1a\x01\x00\x00\x00\xff\xff\xff\xff\xff\xff\xff\xff"))
	iface := func(name string) []byte {
		return block(1, append([]byte("\x01\x00\x00\x00\x00\x00\x00\x00\x02\x00\x01\x00"), name...))
	}
	packet := func(iface uint32) []byte {
		b := append(le.AppendUint32(nil, iface), make([]byte, 8)...)
		return block(6, append(le.AppendUint32(le.AppendUint32(b, 60), 60), make([]byte, 60)...))
	}
	var file []byte
	for _, b := range [][]byte{
		section, iface("a"), iface("b"), packet(0), packet(1),
		section, iface("c"), iface("d"), packet(1), packet(0),
		section, iface("e"), packet(0),
	} {
		file = append(file, b...)
	}
	path := filepath.Join(t.TempDir(), "sections.pcapng")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	var out, errs strings.Builder
	code := Run(&IOStreams{Out: &out, Err: &errs}, []string{
		"dissect", path, "-T", "fields", "-E", "separator=,",
		"-e", "frame.number", "-e", "frame.section_number", "-e", "frame.interface_id", "-e", "frame.interface_name",
	})
	if want := "1,1,0,a\n2,1,1,b\n3,2,1,d\n4,2,0,c\n5,3,0,e\n"; code != exitOK || out.String() != want || errs.Len() != 0 {
		t.Errorf("%d: %q, want %q; %s", code, out.String(), want, &errs)
	}
}
