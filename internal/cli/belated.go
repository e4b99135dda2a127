package cli

import (
	"fmt"

	"github.com/iwdissect/iwdissect/internal/diagnose"
	"github.com/iwdissect/iwdissect/internal/fields"
	"github.com/iwdissect/iwdissect/internal/pipeline"
)

// belated counts the PDUs that do not stand with their frame, where a form has a row for each
// frame and tells of PDUs, and returns the sink that counts them before another one.
func (o *dissectOptions) belated(sel *pipeline.Selection, opt *pipeline.Options, k foresight, next pipeline.Sink) (*pipeline.Belated, pipeline.Sink) {
	late := new(pipeline.Belated)
	if !o.shaped() || o.exports() || len(o.list) > 0 && !fields.OfPDUs(o.asked()) {
		return late, next
	}
	sel = sel.Fresh()
	if sel.Timed() {
		opt.Saw = both(opt.Saw, sel.Saw)
	}
	return late, &tee{first: k.moved(picked(sel, late), opt), next: next}
}

// elsewhere says of a capture that was read how many PDUs stand in the row of another frame or in
// none, nil if none do, and what has each with its frame.
func (k foresight) elsewhere(name string, b *pipeline.Belated) error {
	b.Finish()
	if b.Later+b.Never == 0 {
		return nil
	}
	how := "--format ndjson has each with its frame"
	if k.again {
		how = "-2 puts each in the row of its frame"
	}
	return fmt.Errorf("%s: the place of %s became known only behind the frame: "+
		"%d stand in the row of the later frame that showed it, %d in no row (%s)",
		name, diagnose.Counted(b.Later+b.Never, "PDU", "PDUs"), b.Later, b.Never, how)
}
