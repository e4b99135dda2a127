-- Who breaks which rule most: the sender at fault, at each point. What somebody decided about is left out.
select point, rule, severity,
       case dir when 'i2r' then initiator when 'r2i' then responder end as sender,
       sum(times) as findings, count(distinct (shard, conn)) as connections, min(frame) as first_frame
from findings
where not known and suppressed is null
group by point, rule, severity, sender
order by case severity when 'error' then 0 when 'warning' then 1 else 2 end, findings desc, point, rule, sender
limit 50;
