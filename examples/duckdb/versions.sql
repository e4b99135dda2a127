-- What each host speaks: MPA revision, CRC, markers, kind of RNIC, depths, and the rules that it breaks. That tells drivers
-- and their versions apart, and shows which hosts of a fleet have another one than the rest.
with sides as (
  select point, shard, conn, 'i2r' as dir, initiator as host, 'initiator' as role, mpa_revision, crc,
         markers_i2r as markers, initiator_rnic as rnic, initiator_ird as ird, initiator_ord as ord
  from connections
  union all
  select point, shard, conn, 'r2i', responder, 'responder', mpa_revision, crc,
         markers_r2i, responder_rnic, responder_ird, responder_ord
  from connections),
broken as (
  select point, shard, conn, dir, list(distinct rule) as rules
  from findings
  group by all)
select host, role, mpa_revision, crc, markers, rnic, max(ird) as ird, max(ord) as ord,
       count(*) as connections, array_to_string(list_sort(list_distinct(flatten(list(rules)))), ' ') as breaks
from sides left join broken using (point, shard, conn, dir)
group by host, role, mpa_revision, crc, markers, rnic
order by host, role, connections desc;
