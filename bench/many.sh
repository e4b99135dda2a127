# shellcheck shell=bash disable=SC2154 # variables of bench.sh
# Ten thousand connections of other kinds than bulk: with markers, with packets lost and out of order,
# over SCTP, with small messages, and idle for an hour but for keep-alives. Each against 64 of the same
# kind.

section_many() {
	local kind
	echo
	echo "## Thousands of connections of other kinds"
	[[ -n ${CEILING:-} ]] || say "CEILING names no program: left out"
	header "" capture command wall processor "peak memory" "wall against the ceiling" "a frame" "against one of 64"
	for kind in markers loss sctp small idle; do
		few_and_many "$kind"
	done
	header "" "segments sent" found "CRCs not right" gaps "\`check\` finds"
	cat "$work/many.truths"
	echo
	echo "The ceiling does not read SCTP. The 64 idle connections stay idle longer, so that both captures have about as many packets."
	all_right many.right "captures of many connections with all segments found, no CRC wrong and nothing to warn of"
}

# kind KIND COUNT sets $file to a capture of so many connections, 64 or 10,000.
kind() {
	local minutes=60 shape=$1
	case $1$2 in
	idle*)
		(($2 == 10000)) || minutes=$((60 * 10000 / $2))
		turned "idle-$2" -open "$2" -idle "$minutes" -messages 4
		return
		;;
	loss10000) shape=flows10000-loss ;;
	*10000) shape=${1}10000 ;;
	esac
	capture "$shape" "$size"
}

# few_and_many KIND has the rows of both captures of a kind, which are read in turn, keeps what is found in
# them, and the bars.
few_and_many() {
	local of=$1 n c i against
	for n in 64 10000; do
		kind "$of" "$n"
		warm "$file"
		frames "$file" >"$work/frames.$of$n"
		complete "$(counted "$n" "$of")" "$file"
	done
	for ((i = 0; i < ROUNDS; i++)); do
		for n in 64 10000; do
			kind "$of" "$n"
			[[ -z ${CEILING:-} || $of == sctp ]] || once "ceiling.$of$n" "$CEILING" "$file"
			for c in analyze check; do
				once "$c.$of$n" "$bin" "$c" -q "$file"
			done
		done
	done
	for n in 64 10000; do
		kind "$of" "$n"
		for c in ceiling analyze check; do
			[[ -s $work/$c.$of$n ]] || continue
			against=$(product "$(ratio "$c.$of$n" "$c.${of}64" "$wall")" "$(quotient "$(<"$work/frames.${of}64")" "$(<"$work/frames.$of$n")")")
			cells "$(counted "$n" "$of")" "$(label "$(sized "$file")")" "$(called "$c")" "$(seconds "$(median "$c.$of$n" "$wall")")" \
				"$(seconds "$(median "$c.$of$n" "$cpu")")" "$(megabytes "$(median "$c.$of$n" "$rss")") MB" \
				"$([[ $of == sctp ]] || against_ceiling "$c.$of$n" "$of$n")" \
				"$(a_frame "$c" "$of$n")" "$(two "$against")"
			((n == 64)) || [[ $c == ceiling ]] || bar "a frame of \`$c\` against 64 connections: $(counted "$n" "$of")" "$against" "" 2.0 1.4 most
		done
	done
	many_bars "$of"
}

# many_bars KIND keeps what does not compare with few.
many_bars() {
	local of=$1 what must=96 goal=48
	what=$(counted 10000 "$of")
	[[ $of != loss ]] || must=160 goal=96
	bar "peak memory of \`analyze\`: $what" "$(megabytes "$(median "analyze.${of}10000" "$rss")")" " MB" "$must" "$goal" most
	[[ -z ${CEILING:-} || $of == sctp ]] ||
		bar "\`analyze\` against the ceiling: $what" "$(ratio "analyze.${of}10000" "ceiling.${of}10000" "$wall")" "" 2.5 1.3 most
}

# a_frame COMMAND CAPTURE is the time that a frame takes.
a_frame() { awk -v s="$(median "$1.$2" "$wall")" -v n="$(<"$work/frames.$2")" 'BEGIN { printf "%.2f µs", s / n * 1e6 }'; }

# counted N KIND says what is in a capture.
counted() {
	local what=$2
	case $2 in
	markers) what="with markers" ;;
	loss) what="1 % lost, 1 % reordered" ;;
	sctp) what="over SCTP" ;;
	small) what="64-octet Sends and 4 KiB Reads" ;;
	idle) what="idle but for keep-alives" ;;
	esac
	echo "$(thousands "$1") connections, $what"
}

# complete WHAT FILE keeps a row: what was sent and what is found.
complete() {
	local sent segments bad gaps finds
	sent=$(cat "$2.sent") finds=$(judged "$2")
	read -r segments bad gaps <<<"$(found "$2")"
	cells "$1" "$sent" "$segments" "$bad" "$gaps" "$finds" >>"$work/many.truths"
	[[ $segments == "$sent" && $bad == 0 && $finds == "0 errors, 0 warnings" ]] && echo 1 >>"$work/many.right" || echo 0 >>"$work/many.right"
}
