# shellcheck shell=bash disable=SC2154 # variables of bench.sh
# Captures, made once and used again, and the truth about them.

# octets SIZE is a size such as 1GB or 64KiB in octets.
octets() {
	awk -v s="$1" 'BEGIN {
		n = s; sub(/[A-Za-z]+$/, "", n); unit = substr(s, length(n) + 1)
		worth["B"] = worth[""] = 1; worth["kB"] = 1e3; worth["MB"] = 1e6; worth["GB"] = 1e9
		worth["KiB"] = 1024; worth["MiB"] = 1024 ^ 2; worth["GiB"] = 1024 ^ 3
		if (n !~ /^[0-9]+$/ || !(unit in worth)) exit 1
		printf "%.0f\n", n * worth[unit]
	}' || fail "$1 is no size such as 100MB"
}

# label OCTETS is a size to read.
label() {
	awk -v n="$1" 'BEGIN { if (n >= 999.5e6) printf "%.3g GB", n / 1e9; else printf "%.3g MB", n / 1e6 }'
}

# capture SHAPE OCTETS sets $file to a capture of a shape, which is made if it is
# not there, and with it FILE.sent: the number of DDP segments that the ends of
# its connections sent, before any of them was captured.
capture() {
	local shape=$1 of=$2 suffix=pcap mix=bulk flags
	# mix has Writes, Reads and Sends both ways, small has small ones. Each of the others
	# has RDMA Writes of 64 KiB, with a Send behind each. CRC is on, and there is one
	# acknowledgement for two segments.
	case $shape in
	plain) flags='--flows 64' ;;
	mtu*) flags="--flows 64 --mtu ${shape#mtu}" ;;
	flows*-loss) flags="--loss 1 --reorder 1 --flows ${shape//[^0-9]/}" ;;
	flows*) flags="--flows ${shape#flows}" ;;
	loss) flags='--flows 64 --loss 1 --reorder 1' ;;
	markers) flags='--flows 64 --markers' ;;
	markers10000) flags='--flows 10000 --markers' ;;
	span) flags='--flows 64 --fpdu 16KiB' ;;
	badcrc) flags='--flows 64 --bad-crc 0.1' ;;
	pcapng) flags='--flows 64' suffix=pcapng ;;
	ipv6) flags='--flows 64 --ipv6 --vlan 7' ;;
	sctp) flags='--flows 64 --sctp' ;;
	sctp10000) flags='--flows 10000 --sctp' ;;
	mix) flags='--flows 64' mix=mixed ;;
	mix10000) flags='--flows 10000' mix=mixed ;;
	small) flags='--flows 64' mix=small ;;
	small10000) flags='--flows 10000' mix=small ;;
	*) fail "there is no shape $shape" ;;
	esac
	file=$DIR/$shape-$of.$suffix
	[[ -s $file && -s $file.sent ]] && return
	say "makes $file"
	# shellcheck disable=SC2086 # flags are words
	"$bin" generate --size "$of" --mix $mix $flags --stats -o "$file" 2>"$work/stats" || fail "$(cat "$work/stats")"
	sed -n 's/^load: \([0-9]*\) DDP segments.*/\1/p' "$work/stats" >"$work/sent"
	[[ -s $work/sent ]] || fail "generate did not tell what it sent: $(cat "$work/stats")"
	mv "$work/sent" "$file.sent"
}

# turned NAME FLAGS... sets $file to a capture of bench/turnover, which is made if it is not there,
# and with it FILE.sent.
turned() {
	file=$DIR/turnover-$1.pcap
	shift
	[[ -s $file && -s $file.sent ]] && return
	[[ -x $work/turnover ]] || (cd "$root" && CGO_ENABLED=0 go build -o "$work/turnover" ./bench/turnover)
	say "makes $file"
	"$work/turnover" "$@" -o "$file.part" 2>"$work/stats" || fail "$(cat "$work/stats")"
	sed -n 's/^turnover: \([0-9]*\) DDP segments.*/\1/p' "$work/stats" >"$file.sent"
	mv "$file.part" "$file"
}

# sized FILE is its size in octets.
sized() { wc -c <"$1" | tr -d ' '; }

# found FILE prints how many segments the analysis finds, how many of their CRCs
# are wrong or cannot be checked, and how many gaps it sees.
found() {
	"$bin" analyze -q --format json "$1" | tr '{,' '[\n*]' | awk -F: '
		$1 == "\"fpdus\"" || $1 == "\"segment_chunks\"" { segments += $2 }
		$1 == "\"bad\"" || $1 == "\"unverifiable\"" || $1 == "\"wrong\"" { bad += $2 }
		$1 == "\"gaps\"" { gaps += $2 }
		END { print segments + 0, bad + 0, gaps + 0 }'
}

# judged FILE prints how many errors and warnings check finds.
judged() {
	{ "$bin" check -q "$1" || true; } | sed -n 's/^\([0-9]* errors\{0,1\}, [0-9]* warnings\{0,1\}\).*/\1/p' | tail -n 1
}
