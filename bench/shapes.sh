# shellcheck shell=bash disable=SC2154 # variables of bench.sh
# Captures that are harder than the plain one, compared with it.

section_shapes() {
	local shape plain i c
	echo
	echo "## Shapes"
	capture plain "$size"
	plain=$file
	warm "$plain"
	truth plain "$plain"
	for shape in flows10000 loss flows10000-loss markers span pcapng ipv6 sctp badcrc; do
		capture "$shape" "$size"
		warm "$plain" "$file"
		for ((i = 0; i < ROUNDS; i++)); do
			for c in analyze check; do
				once "$c.plain.$shape" "$bin" "$c" -q "$plain"
				once "$c.$shape" "$bin" "$c" -q "$file"
			done
		done
		truth "$shape" "$file"
		compared "$shape" "$file" "$plain"
	done
	header "64 connections, MTU 1500, if not said" "segments sent" found "CRCs not right" gaps "\`check\` finds"
	cat "$work/truths"
	echo
	echo "\"Sent\" are the DDP segments that the ends of the connections sent, as the generator counted them when it handed them to"
	echo "the transport: over TCP each is an FPDU. \"Found\" are those in the capture, as the analysis counted them."
	header "" capture command wall processor "peak memory" "wall against plain" "processor against plain"
	cat "$work/shapes"
	echo
	echo "Each runs in turn with the plain capture; times against it are for the same number of octets."
	all_right right "captures with all segments found, and no CRC wrong that was not made so"
}

# described SHAPE in words.
described() {
	case $1 in
	flows10000) echo "10,000 connections" ;;
	loss) echo "1 % lost, 1 % reordered" ;;
	flows10000-loss) echo "10,000 connections, 1 % lost, 1 % reordered" ;;
	span) echo "16 KiB FPDUs over segments" ;;
	ipv6) echo "IPv6, VLAN" ;;
	sctp) echo SCTP ;;
	badcrc) echo "0.1 % wrong CRCs" ;;
	*) echo "$1" ;;
	esac
}

# truth SHAPE FILE is a row: what was sent and what is found.
truth() {
	local sent segments bad gaps
	sent=$(cat "$2.sent")
	read -r segments bad gaps <<<"$(found "$2")"
	cells "$(described "$1")" "$sent" "$segments" "$bad" "$gaps" "$(judged "$2")" >>"$work/truths"
	# Of the capture with wrong CRCs all but one in 500 are right.
	if [[ $1 == badcrc ]]; then
		echo "$((segments == sent && bad > 0 && 500 * bad < sent))" >>"$work/right"
	else
		echo "$((segments == sent && bad == 0))" >>"$work/right"
	fi
}

# compared SHAPE FILE PLAIN is a row of times, and the bars.
compared() {
	local shape=$1 what of c scale against must='' goal='' must_mb='' goal_mb=''
	what=$(described "$1")
	scale=$(quotient "$(sized "$3")" "$(sized "$2")")
	of=$(label "$(sized "$2")")
	case $shape in
	flows10000) must=2.0 goal=1.4 must_mb=96 goal_mb=48 ;;
	flows10000-loss) must_mb=160 goal_mb=96 ;;
	loss) must=1.5 goal=1.2 ;;
	sctp) ;;
	badcrc) must=1.2 goal=1.05 ;;
	*) must=1.3 goal=1.1 ;;
	esac
	for c in analyze check; do
		against=$(product "$(ratio "$c.$shape" "$c.plain.$shape" "$wall")" "$scale")
		cells "$what" "$of" "\`$c\`" "$(seconds "$(median "$c.$shape" "$wall")")" "$(seconds "$(median "$c.$shape" "$cpu")")" \
			"$(megabytes "$(median "$c.$shape" "$rss")") MB" "$(two "$against")" \
			"$(two "$(product "$(ratio "$c.$shape" "$c.plain.$shape" "$cpu")" "$scale")")" >>"$work/shapes"
		[[ -z $must ]] || bar "time of \`$c\` against plain: $what" "$against" "" "$must" "$goal" most
		[[ -z $must_mb ]] || bar "peak memory of \`$c\`: $what" "$(megabytes "$(median "$c.$shape" "$rss")")" " MB" "$must_mb" "$goal_mb" most
		[[ $shape != sctp ]] || bar "octets a second of \`$c\`, SCTP against TCP" "$(quotient 1 "$against")" "" 0.5 0.8 least
	done
}
