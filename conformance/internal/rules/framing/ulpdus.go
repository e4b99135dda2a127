package framing

import (
	"fmt"

	"github.com/iwdissect/iwdissect/conformance/catalogue"
	"github.com/iwdissect/iwdissect/conformance/internal/model"
	"github.com/iwdissect/iwdissect/conformance/internal/rules"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
)

// ulpduRules judge what ULPDUs hold (RFC 5044 section 3).
var ulpduRules = []rules.Rule{
	{
		ID: "MPA-ULPDU-ONE-01", Needs: catalogue.Sync | catalogue.MsgSync | catalogue.Full, Transport: rules.OnTCP,
		Test:   rules.Test{NotDetected: "with a depth of 1 there is no other Read to join"},
		Tagged: mpa.No, On: model.OpcodeSet(model.OpReadRequest, model.OpAtomicRequest, model.OpAtomicResponse, rdmap.OpImmediate, rdmap.OpImmediateSE),
		Segment: &rules.On[*model.Segment]{
			Judge: func(r *rules.Report, s *model.Segment) {
				if op, ok := s.Joined(); ok {
					r.On(s, "the FPDU holds two DDP segments", fmt.Sprintf("%v after %v", op, s.Op), "one segment per FPDU")
				}
			},
		},
	},
}
