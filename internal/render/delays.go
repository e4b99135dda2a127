package render

import "github.com/iwdissect/iwdissect/trace"

// delayMembers writes what a direction was held up by, if anything was.
func delayMembers(o *object, d *trace.Delays) {
	if d == nil {
		return
	}
	o.key("delays")
	o.open()
	o.uint("fast_retransmissions", d.Fast)
	o.uint("timeout_retransmissions", d.Timeouts)
	o.uint("needless_retransmissions", d.Needless)
	o.uint("unseen_losses", d.Unseen)
	o.uint("unseen_timeouts", d.UnseenTimeouts)
	o.uint("unseen_stamped", d.UnseenStamped)
	o.uint("unproven_losses", d.Unproven)
	o.uint("late_packets", d.Late)
	o.uint("losses", d.Losses)
	frameMember(o, "first_loss", d.FirstLoss)
	frameMember(o, "first_late", d.FirstLate)
	o.uint("zero_windows", d.Closed.Count)
	if z := &d.Closed; z.Count > 0 {
		o.int("zero_window_ns", z.Total)
		o.int("zero_window_blocked_ns", z.Blocked)
		o.key("longest_zero_window")
		o.open()
		o.int("ns", z.Longest)
		frameMember(o, "from_frame", z.From)
		frameMember(o, "to_frame", z.To)
		o.close()
	}
	o.uint("stalls", d.Stalls)
	if d.Stalls > 0 {
		o.int("stalled_ns", d.Stalled)
		o.key("longest_stall")
		stallMembers(o, &d.Longest)
	}
	if d.StepBack > 0 {
		o.int("clock_step_back_ns", d.StepBack)
		frameMember(o, "clock_step_back_frame", d.StepBackFrame)
	}
	if d.Lead.By > 0 {
		o.key("acknowledged_early")
		o.open()
		o.int("ns", d.Lead.By)
		frameMember(o, "ack_frame", d.Lead.Ack)
		frameMember(o, "data_frame", d.Lead.Data)
		o.close()
	}
	o.close()
}

// stallMembers writes a stall.
func stallMembers(o *object, s *trace.Stall) {
	o.open()
	o.int("ns", s.Length())
	frameMember(o, "from_frame", s.From.Frame)
	frameMember(o, "to_frame", s.To.Frame)
	o.str("end", s.End.String())
	o.int("unacknowledged", s.Unacked)
	o.int("requests_owed", int64(s.Owed))
	o.int("requests_asked", int64(s.Asked))
	o.bool("message_open", s.Open)
	o.bool("zero_window", s.Window)
	o.bool("octets_missing", s.Hole)
	o.uint("repeated", s.Again)
	o.uint("repeated_known", s.Known)
	frameMember(o, "last_repeated", s.AgainFrame)
	o.close()
}

// frameMember writes the number of a frame, if there is one.
func frameMember(o *object, name string, frame uint64) {
	if frame > 0 {
		o.uint(name, frame)
	}
}
