package rules

import (
	"github.com/iwdissect/iwdissect/conformance/internal/model"
	"github.com/iwdissect/iwdissect/dissect/mpa"
)

// Scopes that rules of several subjects share.

// AnySegment is the scope of rules on every ULPDU that has a DDP header.
func AnySegment(_ *Case, s *model.Segment) Scope { return InScopeIf(s.DDP != nil) }

// CRCNotBad is the scope of rules on FPDUs whose CRC is not known to be wrong.
func CRCNotBad(_ *Case, e *model.FPDU) Scope { return InScopeIf(e.FPDU.CRCStatus != mpa.CRCBad) }
