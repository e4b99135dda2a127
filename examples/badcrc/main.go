// Badcrc prints the FPDUs of a capture whose CRC is wrong.
package main

import (
	"fmt"
	"os"

	"github.com/iwdissect/iwdissect"
	"github.com/iwdissect/iwdissect/dissect/mpa"
)

func main() {
	c, err := iwdissect.Open(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	defer c.Close()
	for pdu, err := range c.PDUs() {
		if err != nil {
			fmt.Fprintln(os.Stderr, err) // damage; reading continues after it
			continue
		}
		if f := pdu.FPDU; f != nil && f.CRCStatus == mpa.CRCBad {
			from := pdu.Conn.Side[pdu.Dir].Addr
			fmt.Printf("frame %d, from %v, offset %d: CRC %08x, computed %08x\n", pdu.Frame, from, pdu.Offset, f.CRC, f.WantCRC)
		}
	}
}
