package smbdirect_test

import (
	"fmt"

	"github.com/iwdissect/iwdissect/dissect/smbdirect"
)

func ExampleDecodeData() {
	b := []byte{10, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}
	d, err := smbdirect.DecodeData(b)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(d.CreditsGranted, "credit,", d.Length, "octets, answer wanted:", d.Flags&smbdirect.FlagResponseRequested != 0)
	// Output: 1 credit, 0 octets, answer wanted: true
}
