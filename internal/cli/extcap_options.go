package cli

import (
	"slices"
	"strconv"

	"github.com/iwdissect/iwdissect/internal/annotate"
	"github.com/iwdissect/iwdissect/internal/extcap"
	"github.com/iwdissect/iwdissect/internal/live"
	"github.com/iwdissect/iwdissect/trace"
)

// What the dialog of Wireshark offers for a capture, in its order.
var (
	extcapFile = extcap.Option{
		Name: "file", Kind: extcap.File, Display: "Capture file", Required: true,
		Tooltip: "pcap or pcapng, plain or compressed with gzip, bzip2, zstd or lz4",
	}
	extcapComments = extcap.Option{
		Name: "comments", Kind: extcap.Select, Display: "Comments", Default: commentsAll,
		Tooltip: "What is written to the comments of packets",
		Values: []extcap.Value{
			{Name: commentsAll, Display: "PDUs and broken rules"},
			{Name: commentsFindings, Display: "broken rules only"},
			{Name: commentsPDUs, Display: "PDUs only; rules are not checked"},
		},
	}
	extcapDecodeAs = extcap.Option{
		Name: "decode-as", Kind: extcap.String, Display: "Decode as iWARP", Placeholder: "tcp.port==5445,iwarp_mpa",
		Tooltip: "A TCP port that carries iWARP, for connections whose beginning is not captured: tcp.port==PORT,iwarp_mpa; several with blanks between them",
	}
	extcapHold = extcap.Option{
		Name: "hold", Kind: extcap.Integer, Display: "Hold packets back (ms)", Default: "500", From: 0, To: 10_000,
		Tooltip: "A rule may be known to be broken some packets later. A packet waits this long for its comments; what is known later stands at a later packet",
	}
	extcapSnapLen = extcap.Option{
		Name: "snaplen", Kind: extcap.Integer, Display: "Snap length (octets)", Default: strconv.Itoa(live.DefaultSnapLen), From: 1, To: live.MaxSnapLen,
		Tooltip: "Capture at most this many octets of a packet; less than whole packets cannot be checked in full",
	}
	extcapPromiscuous = extcap.Option{
		Name: "promiscuous", Kind: extcap.Boolean, Display: "Promiscuous mode", Default: "true",
		Tooltip: "Capture packets that are addressed to other hosts too, as from a mirror port",
	}
	extcapBuffer = extcap.Option{
		Name: "buffer", Kind: extcap.Integer, Display: "Buffer (MiB)", Default: strconv.Itoa(live.DefaultRingBytes >> 20), From: 1, To: live.MaxRingBytes >> 20,
		Tooltip: "Size of the kernel's capture buffer: a larger one gets over bursts",
	}
)

// The values of extcapComments.
const commentsAll, commentsFindings, commentsPDUs = "all", "findings", "pdus"

// Of an interface, and of a file.
var (
	extcapLiveOptions = []extcap.Option{extcapComments, extcapDecodeAs, extcapPromiscuous, extcapSnapLen, extcapBuffer, extcapHold}
	extcapFileOptions = []extcap.Option{extcapFile, extcapComments, extcapDecodeAs}
	extcapAllOptions  = append([]extcap.Option{extcapFile}, extcapLiveOptions...)
)

// commentsOf says which comments were asked for.
func commentsOf(call *extcap.Call) (words annotate.Words, unjudged bool, err error) {
	words = annotationWords()
	v := call.Value(&extcapComments)
	if !slices.ContainsFunc(extcapComments.Values, func(x extcap.Value) bool { return x.Name == v }) {
		return words, false, usagef("--comments takes all, findings or pdus, not %q", v)
	}
	if v == commentsFindings {
		words.PDU = func(b []byte, _ *trace.PDU) []byte { return b }
	}
	return words, v == commentsPDUs, nil
}

// decodeAsFlags are the flags for the ports that were given.
func decodeAsFlags(call *extcap.Call) (flags []string) {
	for _, rule := range fieldsOf(call.Value(&extcapDecodeAs)) {
		flags = append(flags, "--decode-as="+rule)
	}
	return flags
}
