#!/bin/bash
# A Slurm cluster of two nodes on one machine, without systemd: munged, slurmctld and two slurmd. The
# test ends it by the files in run/.
#
#   cluster.sh DIR
set -euo pipefail
dir=$(realpath "$1") host=$(hostname -s)
mkdir -p "$dir"/{run,state,log,munge,spool,socket}
chmod 755 "$dir"

# munged wants to own what it reads, and that nobody else can write above it.
(umask 077 && head -c 1024 /dev/urandom >"$dir/munge/key")
chown -R munge:munge "$dir/munge" "$dir/socket"
chmod 700 "$dir/munge"
setpriv --reuid munge --regid munge --clear-groups munged --key-file="$dir/munge/key" --socket="$dir/socket/munge" \
	--pid-file="$dir/socket/pid" --seed-file="$dir/munge/seed" --log-file="$dir/munge/log"

# cred_expire is how long a task of a lost node waits until it runs again: 120 seconds by itself.
cat >"$dir/slurm.conf" <<CONF
ClusterName=e2e
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=26817
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$dir/socket/munge,cred_expire=5
CryptoType=crypto/munge
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/spool/%n
SlurmctldPidFile=$dir/run/slurmctld.pid
SlurmdPidFile=$dir/run/%n.pid
SlurmctldLogFile=$dir/log/slurmctld.log
SlurmdLogFile=$dir/log/%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=batch_sched_delay=0,sched_min_interval=100000,bf_interval=1
ReturnToService=2
MailProg=/bin/true
SlurmdParameters=config_overrides
NodeName=n[0-1] NodeHostname=$host NodeAddr=127.0.0.1 Port=[26818-26819] CPUs=4 RealMemory=16000 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
CONF
export SLURM_CONF="$dir/slurm.conf"
slurmctld
slurmd -N n0
slurmd -N n1
for ((i = 0; i < 300; i++)); do
	[ "$(sinfo -h -N -t idle -o %N 2>/dev/null | sort -u | wc -l)" = 2 ] && exit 0
	sleep 0.1
done
tail -n 5 "$dir"/log/*.log
exit 1
