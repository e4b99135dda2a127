// Package e2e has only tests: they run the whole product over real captures and
// compare what it prints with what is known of them, with an independent
// reading of the same octets, with tshark, and with the contract of the
// records.
//
// The small captures are in testdata/pcaps. Larger ones are looked for in the
// directory that IWDISSECT_CAPTURES names, and in its sibling public; without
// it their tests are skipped.
package e2e
