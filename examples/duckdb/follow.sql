-- One connection at all points that saw it: the same addresses and ports, at times that overlap up to a second. What the points
-- saw of it differs where packets were lost between them.
select a.initiator || ':' || a.initiator_port || ' > ' || a.responder || ':' || a.responder_port as connection,
       a.point as point, a.conn as conn, b.point as other_point, b.conn as other_conn,
       round(epoch(b.first_time - a.first_time) * 1e6) as offset_us,
       b.i2r_frames - a.i2r_frames as more_frames_i2r, b.r2i_frames - a.r2i_frames as more_frames_r2i,
       b.i2r_retransmissions - a.i2r_retransmissions as more_retransmitted_i2r, b.i2r_gaps + b.r2i_gaps - a.i2r_gaps - a.r2i_gaps as more_gaps
from connections a join connections b
  on a.transport = b.transport and a.initiator = b.initiator and a.initiator_port = b.initiator_port and a.responder = b.responder
 and a.responder_port = b.responder_port and a.sid is not distinct from b.sid and a.point < b.point
 and a.first_time <= b.last_time + interval 1 second and b.first_time <= a.last_time + interval 1 second
order by connection, point, other_point;
