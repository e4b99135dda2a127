package conformance_test

import (
	"fmt"

	"github.com/iwdissect/iwdissect/conformance"
)

// What a rule demands, and where that is written.
func ExampleCatalogue() {
	e, ok := conformance.Catalogue().Find("MPA-CRC-VALUE-01")
	if !ok {
		return
	}
	fmt.Printf("%s section %s (%s, %v)\n%s\n", e.Spec, e.Section, e.Level, e.Severity, e.Statement)
	fmt.Println("evidence:", conformance.Needs(e.ID))
	// Output:
	// RFC 5044 section 4.4 (MUST, error)
	// With CRC on, the field is CRC32c (reflected polynomial 0x82F63B78, init and final xor all ones) transmitted in the iSCSI digest octet order.
	// evidence: G-FULL G-SUM G-NEG G-SYNC
}
