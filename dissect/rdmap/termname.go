package rdmap

import (
	"fmt"
	"strings"
)

// Layers of a Terminate (RFC 5040 section 4.8, RFC 6580 section 3).
const (
	LayerRDMAP uint8 = 0
	LayerDDP   uint8 = 1
	// LayerLLP is the layer below DDP; only MPA has codes.
	LayerLLP uint8 = 2
)

// Error types of a Terminate. The numbers have a meaning only with their layer.
const (
	// ETypeLocalCatastrophic is type 0 of RDMAP and of DDP.
	ETypeLocalCatastrophic uint8 = 0

	// ETypeRemoteProtection and ETypeRemoteOperation are RDMAP's.
	ETypeRemoteProtection uint8 = 1
	ETypeRemoteOperation  uint8 = 2

	// ETypeTagged, ETypeUntagged and ETypeLower are DDP's. The last one is
	// reserved for errors of the layer below.
	ETypeTagged   uint8 = 1
	ETypeUntagged uint8 = 2
	ETypeLower    uint8 = 3

	// ETypeMPA is MPA's only type.
	ETypeMPA uint8 = 0
)

type errorRow struct {
	layer, etype, code uint8
	// any: every code is good, none has a meaning.
	any  bool
	name string
}

// RFC 6580 sections 3.1 to 3.3, RFC 6581 section 8.
var errorTable = []errorRow{
	{layer: 0, etype: 0, any: true, name: "RDMAP: Local catastrophic error"},
	{0, 1, 0x00, false, "RDMAP/remote protection: Invalid STag"},
	{0, 1, 0x01, false, "RDMAP/remote protection: Base or bounds violation"},
	{0, 1, 0x02, false, "RDMAP/remote protection: Access rights violation"},
	{0, 1, 0x03, false, "RDMAP/remote protection: STag not associated with RDMAP stream"},
	{0, 1, 0x04, false, "RDMAP/remote protection: TO wrap"},
	{0, 1, 0x09, false, "RDMAP/remote protection: STag cannot be invalidated"},
	{0, 1, 0xFF, false, "RDMAP/remote protection: Unspecified error"},
	{0, 2, 0x05, false, "RDMAP/remote operation: Invalid RDMAP version"},
	{0, 2, 0x06, false, "RDMAP/remote operation: Unexpected opcode"},
	{0, 2, 0x07, false, "RDMAP/remote operation: Catastrophic error, localized to RDMAP stream"},
	{0, 2, 0x08, false, "RDMAP/remote operation: Catastrophic error, global"},
	{0, 2, 0x09, false, "RDMAP/remote operation: STag cannot be invalidated"},
	{0, 2, 0xFF, false, "RDMAP/remote operation: Unspecified error"},
	{1, 0, 0x00, false, "DDP: Local catastrophic error"},
	{1, 1, 0x00, false, "DDP/tagged: Invalid STag"},
	{1, 1, 0x01, false, "DDP/tagged: Base or bounds violation"},
	{1, 1, 0x02, false, "DDP/tagged: STag not associated with DDP stream"},
	{1, 1, 0x03, false, "DDP/tagged: TO wrap"},
	{1, 1, 0x04, false, "DDP/tagged: Invalid DDP version"},
	{1, 2, 0x01, false, "DDP/untagged: Invalid QN"},
	{1, 2, 0x02, false, "DDP/untagged: Invalid MSN, no buffer available"},
	{1, 2, 0x03, false, "DDP/untagged: Invalid MSN, range not valid"},
	{1, 2, 0x04, false, "DDP/untagged: Invalid MO"},
	{1, 2, 0x05, false, "DDP/untagged: Message too long for buffer"},
	{1, 2, 0x06, false, "DDP/untagged: Invalid DDP version"},
	{layer: 1, etype: 3, any: true, name: "DDP/lower layer: Reserved"},
	{2, 0, 0x01, false, "MPA: TCP connection closed, terminated or lost"},
	{2, 0, 0x02, false, "MPA: CRC error"},
	{2, 0, 0x03, false, "MPA: Marker and ULPDU_Length mismatch"},
	{2, 0, 0x04, false, "MPA: Invalid MPA Request or Reply frame"},
	{2, 0, 0x05, false, "MPA: Local catastrophic error"},
	{2, 0, 0x06, false, "MPA: Insufficient IRD resources"},
	{2, 0, 0x07, false, "MPA: No matching RTR option"},
}

// errorRowOf returns the row of the error, or nil.
func errorRowOf(layer, etype, code uint8) *errorRow {
	for i := range errorTable {
		r := &errorTable[i]
		if r.layer == layer && r.etype == etype && (r.any || r.code == code) {
			return r
		}
	}
	return nil
}

// Assigned reports whether the registries of RFC 6580 and RFC 6581 have an
// entry for the error. For DDP's type 3 they have one, which reserves it.
func Assigned(layer, etype, code uint8) bool { return errorRowOf(layer, etype, code) != nil }

// ErrorName returns layer, type and meaning of an error, such as "DDP/tagged:
// Invalid STag".
func ErrorName(layer, etype, code uint8) string {
	if r := errorRowOf(layer, etype, code); r != nil {
		return r.name
	}
	return scopeName(layer, etype) + ": " + unassigned(code)
}

func unassigned(code uint8) string { return fmt.Sprintf("Unassigned code 0x%02x", code) }

// CodeName returns the meaning of an error alone, such as "Invalid STag".
func CodeName(layer, etype, code uint8) string {
	_, name, _ := strings.Cut(ErrorName(layer, etype, code), ": ")
	return name
}

// scopeName is what stands before the colon.
func scopeName(layer, etype uint8) string {
	for i := range errorTable {
		if r := &errorTable[i]; r.layer == layer && r.etype == etype {
			scope, _, _ := strings.Cut(r.name, ": ")
			return scope
		}
	}
	return fmt.Sprintf("%s/type %#x", LayerName(layer), etype)
}

// LayerName returns the name of a layer as errors name it.
func LayerName(layer uint8) string {
	switch layer {
	case LayerRDMAP:
		return "RDMAP"
	case LayerDDP:
		return "DDP"
	case LayerLLP:
		return "MPA"
	}
	return fmt.Sprintf("Layer %#x", layer)
}

// ETypeName returns the name of an error type of a layer.
func ETypeName(layer, etype uint8) string {
	switch layer {
	case LayerRDMAP:
		switch etype {
		case ETypeLocalCatastrophic:
			return "Local catastrophic error"
		case ETypeRemoteProtection:
			return "Remote protection error"
		case ETypeRemoteOperation:
			return "Remote operation error"
		}
	case LayerDDP:
		switch etype {
		case ETypeLocalCatastrophic:
			return "Local catastrophic error"
		case ETypeTagged:
			return "Tagged buffer error"
		case ETypeUntagged:
			return "Untagged buffer error"
		case ETypeLower:
			return "Reserved for the lower layer"
		}
	case LayerLLP:
		if etype == ETypeMPA {
			return "MPA error"
		}
	}
	return fmt.Sprintf("Unassigned type %#x", etype)
}

// The forms that field descriptions need.

func termLayerName(v uint64) string { return LayerName(uint8(v & 0xF)) }

func termETypeName(layer uint8, v uint64) string { return ETypeName(layer, uint8(v&0xF)) }

// codesOf names the codes of one error type.
func codesOf(layer, etype uint8) func(uint64) string {
	return func(v uint64) string { return CodeName(layer, etype, uint8(v&0xFF)) }
}

func unassignedCode(v uint64) string { return unassigned(uint8(v & 0xFF)) }

// rdmaCodeName names a code of RDMAP whose error type is not known. The two types that
// have codes give those that they share the same meaning, so either may be asked.
func rdmaCodeName(v uint64) string {
	etype := ETypeRemoteOperation
	if Assigned(LayerRDMAP, ETypeRemoteProtection, uint8(v&0xFF)) {
		etype = ETypeRemoteProtection
	}
	return CodeName(LayerRDMAP, etype, uint8(v&0xFF))
}
