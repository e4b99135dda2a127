package iwdissect_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/google/gopacket/pcapgo"

	"github.com/iwdissect/iwdissect"
	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/layers"
	"github.com/iwdissect/iwdissect/trace"
)

// The FPDUs of a capture whose CRC is wrong: the program examples/badcrc.
func Example() {
	c, err := iwdissect.Open("testdata/pcaps/generated/terminate-bad-crc.pcapng")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	for pdu, err := range c.PDUs() {
		if err != nil {
			fmt.Println(err) // damage; reading continues after it
			continue
		}
		if f := pdu.FPDU; f != nil && f.CRCStatus == mpa.CRCBad {
			from := pdu.Conn.Side[pdu.Dir].Addr
			fmt.Printf("frame %d, from %v, offset %d: CRC %08x, computed %08x\n", pdu.Frame, from, pdu.Offset, f.CRC, f.WantCRC)
		}
	}
	// Output:
	// frame 7, from 10.0.0.1:40000, offset 124: CRC dcdbc550, computed dddbc550
}

// What happened on each connection.
func ExampleCapture_Connections() {
	c, err := iwdissect.Open("testdata/pcaps/rping-p2p-write-crc.pcap")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	for conn, err := range c.Connections() {
		if err != nil {
			fmt.Println(err)
			continue
		}
		ini, res := conn.Side[trace.I2R].Addr, conn.Side[trace.R2I].Addr
		there, back := &conn.Flow[trace.I2R], &conn.Flow[trace.R2I]
		fmt.Printf("%v -> %v: startup %v, ended by %v\n", ini, res, conn.Outcome, conn.Ending)
		fmt.Printf("%d and %d FPDUs, %d requests, %d answered\n", there.FPDUs, back.FPDUs, there.Requests+back.Requests, there.Answered+back.Answered)
	}
	for _, w := range c.Totals().Warnings() {
		fmt.Println("warning:", w)
	}
	// Output:
	// 10.1.0.1:49701 -> 10.1.0.2:7174: startup accepted, ended by fin
	// 31 and 40 FPDUs, 10 requests, 10 answered
}

// Rules of the RFCs that were broken.
func ExampleCapture_Findings() {
	c, err := iwdissect.Open("testdata/pcaps/term-rbadkey.pcap", iwdissect.DisableRules("ADV-*"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	for f, err := range c.Findings(conformance.Warning) {
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Printf("frame %d: %v: %s (%s, %s section %s)\n", f.Frame, f.Severity, f.Message, f.Rule.ID, f.Rule.Spec, f.Rule.Section)
	}
	// Output:
	// frame 10: warning: the responder refuses to read the memory that this Read Request names (RDMAP-READREQ-VALID-01, RFC 5040 section 5.2.1, 7.2)
	// frame 12: error: reserved bits of the Terminate are set (RDMAP-TERM-RSVD-01, RFC 5040 section 4.8)
}

// Whether a capture shows that all rules were kept.
func ExampleCapture_Verdicts() {
	c, err := iwdissect.Open("testdata/pcaps/term-rbadkey.pcap", iwdissect.DisableRules("ADV-*"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	for _, err := range c.Findings(conformance.Note) {
		if err != nil {
			fmt.Println(err)
		}
	}
	v := c.Verdicts()
	fmt.Printf("%d rules apply: %d passed, %d failed, %d not judged\n",
		v.Rules(), v.Count(conformance.Pass), v.Count(conformance.Fail), v.Count(conformance.NotJudged))
	for _, j := range v.Judgements() {
		if j.Verdict == conformance.Fail {
			fmt.Println("failed:", j.Rule.ID)
		}
	}
	// Output:
	// 93 rules apply: 91 passed, 2 failed, 0 not judged
	// failed: RDMAP-READREQ-VALID-01
	// failed: RDMAP-TERM-RSVD-01
}

// RDMA Reads and their latency, and the findings, in one pass.
func ExampleCapture_Events() {
	c, err := iwdissect.Open("testdata/pcaps/generated/terminate-bad-crc.pcapng")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	for e, err := range c.Events(iwdissect.Transactions | iwdissect.Findings) {
		switch {
		case err != nil:
			fmt.Println(err)
		case e.Transaction != nil:
			fmt.Println(e.Transaction.Kind, "answered after", time.Duration(e.Transaction.Last))
		case e.Finding != nil:
			fmt.Println(e.Finding.Rule.ID, "in frame", e.Finding.Frame)
		}
	}
	// Output:
	// startup answered after 100µs
	// MPA-CRC-VALUE-01 in frame 7
}

// An error keeps where it happened.
func ExampleError() {
	file, err := os.ReadFile("testdata/pcaps/rping-p2p-write-crc.pcap")
	if err != nil {
		fmt.Println(err)
		return
	}
	c, err := iwdissect.NewReader(bytes.NewReader(file[:1000])) // the rest is missing
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, err := range c.PDUs() {
		var bad *iwdissect.Error
		if errors.As(err, &bad) {
			fmt.Println(bad.Code, "in frame", bad.Frame, "at octet", bad.Offset, "- resumed:", bad.Resumed)
		}
	}
	fmt.Println(c.Totals().Frames, "frames were read")
	// Output:
	// truncated in frame 11 at octet 972 - resumed: false
	// 10 frames were read
}

// Frames from gopacket: here a file, it may as well be an interface. The context
// ends the range.
func ExampleNewSource() {
	f, err := os.Open("testdata/pcaps/rping-p2p-write-crc.pcap")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer f.Close()
	handle, err := pcapgo.NewReader(f)
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	c, err := iwdissect.NewSource(layers.NewSource(handle), iwdissect.WithContext(ctx))
	if err != nil {
		fmt.Println(err)
		return
	}
	for pdu, err := range c.PDUs() {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println("frame", pdu.Frame, pdu.Kind, "from", pdu.Conn.Side[pdu.Dir].Addr)
		if pdu.Kind == trace.KindFPDU {
			break
		}
	}
	// Output:
	// frame 5 mpa_request from 10.1.0.1:49701
	// frame 7 mpa_reply from 10.1.0.2:7174
	// frame 9 fpdu from 10.1.0.1:49701
}
