package dataset

// Flow is what a row of connections says of a direction. The columns of the two directions differ
// in what their names begin with.
type Flow struct {
	Frames          int64
	Octets          int64
	FPDUs           int64
	FPDUOctets      int64
	Chunks          int64
	CRCOk           int64
	CRCBad          int64
	CRCUnverifiable int64
	CRCOff          int64
	Markers         int64
	MarkersBad      int64
	Partial         int64
	Malformed       int64
	Unframed        int64
	Resyncs         int64
	Gaps            int64
	GapOctets       int64
	Retransmissions int64
	OutOfOrder      int64
	Stalls          int64
	StalledNS       int64
	Requests        int64
	Answered        int64
	Unanswered      int64
	Refused         int64
	Unmatched       int64
	MostOutstanding int64
	Sends           int64
	SendOctets      int64
	Writes          int64
	WriteOctets     int64
	Reads           int64
	ReadOctets      int64
	Atomics         int64
}

// FlowI2R is the i2r part of a row.
type FlowI2R struct {
	Frames          int64 `parquet:"i2r_frames"`
	Octets          int64 `parquet:"i2r_octets"`
	FPDUs           int64 `parquet:"i2r_fpdus"`
	FPDUOctets      int64 `parquet:"i2r_fpdu_octets"`
	Chunks          int64 `parquet:"i2r_segment_chunks"`
	CRCOk           int64 `parquet:"i2r_crc_ok"`
	CRCBad          int64 `parquet:"i2r_crc_bad"`
	CRCUnverifiable int64 `parquet:"i2r_crc_unverifiable"`
	CRCOff          int64 `parquet:"i2r_crc_not_negotiated"`
	Markers         int64 `parquet:"i2r_markers"`
	MarkersBad      int64 `parquet:"i2r_markers_bad"`
	Partial         int64 `parquet:"i2r_partial"`
	Malformed       int64 `parquet:"i2r_malformed"`
	Unframed        int64 `parquet:"i2r_unframed_octets"`
	Resyncs         int64 `parquet:"i2r_resyncs"`
	Gaps            int64 `parquet:"i2r_gaps"`
	GapOctets       int64 `parquet:"i2r_gap_octets"`
	Retransmissions int64 `parquet:"i2r_retransmissions"`
	OutOfOrder      int64 `parquet:"i2r_out_of_order"`
	Stalls          int64 `parquet:"i2r_stalls"`
	StalledNS       int64 `parquet:"i2r_stalled_ns"`
	Requests        int64 `parquet:"i2r_requests"`
	Answered        int64 `parquet:"i2r_answered"`
	Unanswered      int64 `parquet:"i2r_unanswered"`
	Refused         int64 `parquet:"i2r_refused"`
	Unmatched       int64 `parquet:"i2r_unmatched_responses"`
	MostOutstanding int64 `parquet:"i2r_most_outstanding"`
	Sends           int64 `parquet:"i2r_send_messages"`
	SendOctets      int64 `parquet:"i2r_send_octets"`
	Writes          int64 `parquet:"i2r_write_messages"`
	WriteOctets     int64 `parquet:"i2r_write_octets"`
	Reads           int64 `parquet:"i2r_read_messages"`
	ReadOctets      int64 `parquet:"i2r_read_octets"`
	Atomics         int64 `parquet:"i2r_atomic_messages"`
}

// FlowR2I is the r2i part of a row.
type FlowR2I struct {
	Frames          int64 `parquet:"r2i_frames"`
	Octets          int64 `parquet:"r2i_octets"`
	FPDUs           int64 `parquet:"r2i_fpdus"`
	FPDUOctets      int64 `parquet:"r2i_fpdu_octets"`
	Chunks          int64 `parquet:"r2i_segment_chunks"`
	CRCOk           int64 `parquet:"r2i_crc_ok"`
	CRCBad          int64 `parquet:"r2i_crc_bad"`
	CRCUnverifiable int64 `parquet:"r2i_crc_unverifiable"`
	CRCOff          int64 `parquet:"r2i_crc_not_negotiated"`
	Markers         int64 `parquet:"r2i_markers"`
	MarkersBad      int64 `parquet:"r2i_markers_bad"`
	Partial         int64 `parquet:"r2i_partial"`
	Malformed       int64 `parquet:"r2i_malformed"`
	Unframed        int64 `parquet:"r2i_unframed_octets"`
	Resyncs         int64 `parquet:"r2i_resyncs"`
	Gaps            int64 `parquet:"r2i_gaps"`
	GapOctets       int64 `parquet:"r2i_gap_octets"`
	Retransmissions int64 `parquet:"r2i_retransmissions"`
	OutOfOrder      int64 `parquet:"r2i_out_of_order"`
	Stalls          int64 `parquet:"r2i_stalls"`
	StalledNS       int64 `parquet:"r2i_stalled_ns"`
	Requests        int64 `parquet:"r2i_requests"`
	Answered        int64 `parquet:"r2i_answered"`
	Unanswered      int64 `parquet:"r2i_unanswered"`
	Refused         int64 `parquet:"r2i_refused"`
	Unmatched       int64 `parquet:"r2i_unmatched_responses"`
	MostOutstanding int64 `parquet:"r2i_most_outstanding"`
	Sends           int64 `parquet:"r2i_send_messages"`
	SendOctets      int64 `parquet:"r2i_send_octets"`
	Writes          int64 `parquet:"r2i_write_messages"`
	WriteOctets     int64 `parquet:"r2i_write_octets"`
	Reads           int64 `parquet:"r2i_read_messages"`
	ReadOctets      int64 `parquet:"r2i_read_octets"`
	Atomics         int64 `parquet:"r2i_atomic_messages"`
}

// Latency sums up durations in nanoseconds; of none all members are nil.
type Latency struct {
	Count *int64
	Sum   *int64
	Min   *int64
	P50   *int64
	P99   *int64
	Max   *int64
}

// ReadLatency is that of RDMA Reads.
type ReadLatency struct {
	Count *int64 `parquet:"read_count,optional"`
	Sum   *int64 `parquet:"read_sum_ns,optional"`
	Min   *int64 `parquet:"read_min_ns,optional"`
	P50   *int64 `parquet:"read_p50_ns,optional"`
	P99   *int64 `parquet:"read_p99_ns,optional"`
	Max   *int64 `parquet:"read_max_ns,optional"`
}

// AtomicLatency is that of atomic operations.
type AtomicLatency struct {
	Count *int64 `parquet:"atomic_count,optional"`
	Sum   *int64 `parquet:"atomic_sum_ns,optional"`
	Min   *int64 `parquet:"atomic_min_ns,optional"`
	P50   *int64 `parquet:"atomic_p50_ns,optional"`
	P99   *int64 `parquet:"atomic_p99_ns,optional"`
	Max   *int64 `parquet:"atomic_max_ns,optional"`
}
