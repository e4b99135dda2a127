package conformance_test

import (
	"encoding/binary"
	"os"
	"testing"

	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// TestUnframed: a length that is wrong in the file has what follows framed late, of one direction. Nothing is said of the
// other one that the answers, or the requests, among those octets would refute.
func TestUnframed(t *testing.T) {
	for _, name := range []string{"rping-p2p-write-crc", "rping-p2p-both-crc", "lo-rping-crc"} {
		file, err := os.ReadFile("../testdata/pcaps/" + name + ".pcap")
		if err != nil {
			t.Fatal(err)
		}
		fs, err := tracetest.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		patched := 0
		for i := range fs {
			at, ok := firstLength(fs[i].Data)
			if !ok {
				continue
			}
			patched++
			was := fs[i].Data
			fs[i].Data = append([]byte(nil), was...)
			setWithSum(fs[i].Data, at, 0x4745)
			j := judged(t, fs)
			for _, id := range []string{"MPA2-IRDORD-06", "RDMAX-AREQ-DEPTH-01", "RDMAP-READRESP-UNSOL-01", "RDMAX-ARESP-UNSOL-01"} {
				if n := len(severities(j, id)); n > 0 {
					t.Errorf("%s, frame %d: %d findings of %s: %s", name, i+1, n, id, text(j.findings))
				}
			}
			fs[i].Data = was
		}
		if patched < 10 {
			t.Errorf("%s: only %d FPDUs", name, patched)
		}
	}
}

const lenEthernet, lenIPv4 = 14, 20

// firstLength is where the length of an FPDU is that begins a segment of TCP over IPv4: at least, it looks like a short one.
func firstLength(b []byte) (at int, ok bool) {
	const tcpLength = 12
	if len(b) < lenEthernet+lenIPv4+20 || b[12] != 8 || b[13] != 0 || b[lenEthernet] != 0x45 || b[lenEthernet+9] != 6 {
		return 0, false
	}
	at = lenEthernet + lenIPv4 + int(b[lenEthernet+lenIPv4+tcpLength]>>4)*4
	return at, len(b) >= at+16 && b[at] == 0 && b[at+1] > 0 && int(b[at+1]) <= len(b)-at
}

// setWithSum sets a word of a segment, and its checksum with it (RFC 1624).
func setWithSum(b []byte, at int, word uint16) {
	sum := b[lenEthernet+lenIPv4+16:][:2]
	s := uint32(^binary.BigEndian.Uint16(sum)) + uint32(^binary.BigEndian.Uint16(b[at:])) + uint32(word)
	s = s&0xffff + s>>16
	binary.BigEndian.PutUint16(sum, ^uint16(s+s>>16))
	binary.BigEndian.PutUint16(b[at:], word)
}
