package catalogue_test

import (
	"fmt"

	"github.com/iwdissect/iwdissect/conformance/catalogue"
)

// All rules that a pattern names.
func ExampleBook_Named() {
	named := catalogue.Load().Named("MPA-CRC-REACT-*")
	for _, e := range catalogue.Load().Entries {
		if named(e) {
			fmt.Println(e.ID, e.Severity)
		}
	}
	// Output:
	// MPA-CRC-REACT-01 error
	// MPA-CRC-REACT-02 note
}
