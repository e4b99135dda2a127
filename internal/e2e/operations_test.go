package e2e

import (
	"fmt"
	"maps"
	"path/filepath"
	"testing"
)

// operationsRecord is the part of a connection record that counts octets.
type operationsRecord struct {
	Conn int            `json:"conn"`
	I2R  operationsFlow `json:"i2r"`
	R2I  operationsFlow `json:"r2i"`
}

type operationsFlow struct {
	Operations map[string]struct {
		Octets int64 `json:"octets"`
	} `json:"operations"`
}

// TestOperations_Octets compares the octets of each operation with the sum of the
// payloads in the PDU records.
func TestOperations_Octets(t *testing.T) {
	for _, path := range taken(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			d := dissect(t, path)
			want := map[string]int64{}
			for i := range d.pdus {
				if p := &d.pdus[i]; p.num("iwd.payload.length") >= 0 {
					want[fmt.Sprint(p.Conn, p.Dir, p.str("iwd.rdmap.opcode_name"))] += p.num("iwd.payload.length")
				}
			}
			got := map[string]int64{}
			for i, line := range d.lines {
				if d.kinds[i] != "connection" {
					continue
				}
				rs, err := appendRecord[operationsRecord](nil, line)
				if err != nil {
					t.Fatal(err)
				}
				for dir, f := range map[string]*operationsFlow{"i2r": &rs[0].I2R, "r2i": &rs[0].R2I} {
					for name, op := range f.Operations {
						got[fmt.Sprint(rs[0].Conn, dir, name)] = op.Octets
					}
				}
			}
			if !maps.Equal(got, want) {
				t.Errorf("%v, want %v", got, want)
			}
		})
	}
}

// TestTerminate_SwappedQuote: the Terminate of this capture has its control word
// swapped and quotes the Read Request in front of it, with its whole header.
func TestTerminate_SwappedQuote(t *testing.T) {
	d := dissect(t, find(t, "term-rbadkey.pcap"))
	var term *pduRecord
	for i := range d.pdus {
		if p := &d.pdus[i]; p.str("iwd.rdmap.opcode_name") == "Terminate" {
			term = p
		}
	}
	if term == nil {
		t.Fatal("no Terminate")
	}
	for name, want := range map[string]string{
		"iwd.term.name":           "DDP: Local catastrophic error",
		"iwd.term.swapped_name":   "RDMAP/remote protection: Invalid STag",
		"iwd.term.swapped_ddp_h":  "414100000000000000010000138800000000",
		"iwd.term.swapped_rdma_h": "84d2130000007fb6c0a65000000013887566410000007fcbac87a000",
		"iwarp_rdma.term_rsvd":    "0x0700",
	} {
		same(t, name, term.str(name), want)
	}
	same(t, "DDP segment length", term.num("iwd.term.swapped_ddp_seg_len"), 0)
	// Read straight it announces nothing, so nothing may stand under those names.
	for _, name := range []string{"iwarp_rdma.term_ddp_h", "iwarp_rdma.term_rdma_h", "iwarp_rdma.term_ddp_seg_len"} {
		if v, ok := term.Fields[name]; ok {
			t.Errorf("%s is %v", name, v)
		}
	}
}
