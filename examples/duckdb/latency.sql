-- How long RDMA Reads take, by point and hour: exact quantiles, in microseconds.
select point, date_trunc('hour', time) as hour, count(*) as reads, sum(bytes) as octets,
       round(avg(latency_ns) / 1e3, 1) as mean_us, round(quantile_cont(latency_ns, 0.5) / 1e3, 1) as p50_us,
       round(quantile_cont(latency_ns, 0.99) / 1e3, 1) as p99_us, round(max(latency_ns) / 1e3, 1) as max_us
from transactions
where kind = 'read' and latency_ns is not null
group by all
order by point, hour;
