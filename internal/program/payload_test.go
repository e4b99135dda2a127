package program

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"testing"

	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// TestPayload: the files of dissect --payload, cut where the segments of their messages end,
// have the CRC32c that the records give of each segment's payload.
func TestPayload(t *testing.T) {
	castagnoli := crc32.MakeTable(crc32.Castagnoli)
	segments := 0
	for _, f := range tracetest.Captures(t, "../..") {
		dir := filepath.Join(t.TempDir(), "out")
		out(t, "dissect", "-q", "--payload", dir, f)
		type key struct {
			conn   uint64
			dir    string
			opcode string
		}
		pdus := map[key][]pduRecord{}
		for line := range bytes.Lines([]byte(out(t, "dissect", "--format", "ndjson", "--records", "pdu", f))) {
			var p pduRecord
			if err := json.Unmarshal(line, &p); err != nil {
				t.Fatal(err)
			}
			k := key{p.Conn, p.Dir, p.Fields.Opcode}
			pdus[k] = append(pdus[k], p)
		}
		manifest, err := os.ReadFile(filepath.Join(dir, "manifest.ndjson"))
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(manifest) {
			var m struct {
				File, Dir, Opcode string
				Conn              uint64
				First             uint64 `json:"first_pdu"`
				Last              uint64 `json:"last_pdu"`
				Segments, Missing int
			}
			if err := json.Unmarshal(line, &m); err != nil {
				t.Fatal(err)
			}
			if m.Missing > 0 {
				continue
			}
			content, err := os.ReadFile(filepath.Join(dir, m.File))
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			for _, p := range pdus[key{m.Conn, m.Dir, m.Opcode}] {
				if p.PDU < m.First || p.PDU > m.Last {
					continue
				}
				if p.Fields.Length > len(content) {
					t.Fatalf("%s: %s ends before PDU %d does", f, m.File, p.PDU)
				}
				part := content[:p.Fields.Length]
				content = content[p.Fields.Length:]
				if sum := fmt.Sprintf("0x%08x", crc32.Checksum(part, castagnoli)); sum != p.Fields.CRC && p.Fields.CRC != "" {
					t.Errorf("%s: %s: PDU %d has %s, not %s", f, m.File, p.PDU, sum, p.Fields.CRC)
				}
				n++
			}
			if n != m.Segments || len(content) > 0 {
				t.Errorf("%s: %s has %d segments, not %d, and %d octets more", f, m.File, m.Segments, n, len(content))
			}
			segments += n
		}
	}
	if segments < 2000 {
		t.Errorf("only %d segments compared", segments)
	}
}

// pduRecord is what is compared of a PDU.
type pduRecord struct {
	PDU, Conn uint64
	Dir       string
	Fields    struct {
		Opcode string `json:"iwarp_rdma.opcode"`
		Length int    `json:"iwd.payload.length"`
		CRC    string `json:"iwd.payload.crc32c"`
	}
}
