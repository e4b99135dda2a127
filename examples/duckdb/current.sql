-- Views of what counts: of each point, shard and table the files that the newest manifest names.
create or replace temp table manifests as
  select point, shard.index as shard, finished, unnest(files, recursive := true)
  from read_json('results/manifests/*/*.json', columns = {
    point: 'varchar', shard: 'struct("index" int, "of" int)', finished: 'timestamp',
    files: 'struct("table" varchar, name varchar, "rows" bigint, size bigint, sha256 varchar)[]'});
create or replace temp table current_files as
  select 'results/' || "table" || '/point=' || point || '/' || name as filename
  from manifests
  qualify finished = max(finished) over (partition by point, shard, "table");

create or replace temp view connections as from read_parquet('results/connections/*/*.parquet', filename = true, union_by_name = true) semi join current_files using (filename);
create or replace temp view findings as from read_parquet('results/findings/*/*.parquet', filename = true, union_by_name = true) semi join current_files using (filename);
create or replace temp view transactions as from read_parquet('results/transactions/*/*.parquet', filename = true, union_by_name = true) semi join current_files using (filename);
create or replace temp view diagnoses as from read_parquet('results/diagnoses/*/*.parquet', filename = true, union_by_name = true) semi join current_files using (filename);
create or replace temp view pdus as from read_parquet('results/pdus/*/*.parquet', filename = true, union_by_name = true) semi join current_files using (filename);
