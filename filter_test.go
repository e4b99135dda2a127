package iwdissect_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
)

// The RDMA Read Requests of one host.
func ExampleWithFilter() {
	c, err := iwdissect.Open("testdata/pcaps/rping-p2p-read-crc.pcap", iwdissect.WithFilter("iwarp_rdma.opcode == 1 && ip.src == 10.1.0.2 && iwarp_rdma.rdmardsz > 0"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	octets, requests := uint32(0), 0
	for pdu, err := range c.PDUs() {
		if err != nil {
			fmt.Println(err)
			continue
		}
		head, _, _ := pdu.ULPDU()
		r, _ := rdmap.DecodeReadRequest(head[pdu.Segment.HeaderLen:])
		octets += r.Size
		requests++
	}
	fmt.Println(requests, "requests for", octets, "octets")
	// Output: 10 requests for 640 octets
}

// TestWithFilter_Wrong: a wrong filter is an error of Open, with its place.
func TestWithFilter_Wrong(t *testing.T) {
	for filter, want := range map[string]string{
		"iwarp_rdma.opcde == 1": "did you mean iwarp_rdma.opcode?",
		"iwarp_rdma.opcode == ": "^",
		"iwd.latency > 1ms":     "iwd.latency is known later than the PDU",
		"iwd.note || iwarp_mpa": "is known later than the PDU",
	} {
		_, err := iwdissect.Open("testdata/pcaps/rping-p2p-read-crc.pcap", iwdissect.WithFilter(filter))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", filter, err, want)
		}
	}
}

// TestWithFilter_Others: the filter is one of PDUs; a second range has it too, and all else
// is that of the whole capture.
func TestWithFilter_Others(t *testing.T) {
	const file = "testdata/pcaps/generated/two-interfaces.pcapng"
	count := func(opts ...iwdissect.Option) (n [4]int) {
		c, err := iwdissect.Open(file, opts...)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		for range 2 {
			for e, err := range c.Events(iwdissect.PDUs | iwdissect.Connections | iwdissect.Frames | iwdissect.Transactions) {
				switch {
				case err != nil:
					t.Fatal(err)
				case e.PDU != nil:
					n[0]++
				case e.Connection != nil:
					n[1]++
				case e.Frame != nil:
					n[2]++
				case e.Transaction != nil:
					n[3]++
				}
			}
		}
		return n
	}
	all, none := count(), count(iwdissect.WithFilter("frame.interface_name == \"nobody\""))
	if none[0] != 0 || all[0] == 0 {
		t.Errorf("%d of %d PDUs match a filter that none matches", none[0], all[0])
	}
	if all[1] != none[1] || all[2] != none[2] || all[3] != none[3] {
		t.Errorf("other events: %v, want %v", none, all)
	}
	if some := count(iwdissect.WithFilter("frame.interface_name")); some != all {
		t.Errorf("a filter that all match leaves %v of %v", some, all)
	}
	if some := count(iwdissect.WithFilter("")); some != all {
		t.Errorf("no filter leaves %v of %v", some, all)
	}
}
