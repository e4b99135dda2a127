package rdmap

import "github.com/iwdissect/iwdissect/dissect"

// Headers lists the descriptions of this package.
var Headers = []*dissect.Header{
	&ControlHeader,
	&InvalidateHeader,
	&ReservedHeader,
	&ReadRequestHeader,
	&TerminateHeader,
	&ImmediateDataHeader,
	&AtomicRequestHeader,
	&AtomicResponseHeader,
}
