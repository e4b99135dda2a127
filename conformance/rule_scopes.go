package conformance

import "github.com/iwdissect/iwdissect/dissect/mpa"

// Scopes that rules of several subjects share.

// anySegment is the scope of rules on every ULPDU that has a DDP header.
func anySegment(_ *Case, s *segment) Scope { return InScopeIf(s.seg != nil) }

// crcNotBad is the scope of rules on FPDUs whose CRC is not known to be wrong.
func crcNotBad(_ *Case, e *fpdu) Scope { return InScopeIf(e.f.CRCStatus != mpa.CRCBad) }
