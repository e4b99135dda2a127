// Package termsvg draws the output of a terminal program as an SVG picture, so
// that the pictures in the README are made from outputs that the tests check.
package termsvg

//go:generate go run ./draw -title "iwdissect check term-wbadkey.pcap" -columns 116 -o ../../docs/images/check.svg ../../internal/program/testdata/check.ansi
//go:generate go run ./draw -title "iwdissect view term-wbadkey.pcap" -columns 110 -o ../../docs/images/view.svg ../../internal/program/testdata/view.ansi
