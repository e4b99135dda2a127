# shellcheck shell=bash disable=SC2154 # variables of bench.sh
# What annotate and report take against check and analyze, and how soon view shows something. What
# is written goes to a file in DIR; a cp of the capture and a sync of it is what the writing takes.

section_pictures() {
	local shape i out=$DIR/pictures.out
	echo
	echo "## Pictures"
	for shape in plain mix flows10000 mix10000; do
		capture "$shape" "$size"
		warm "$file"
		for ((i = 0; i < ROUNDS; i++)); do
			once "check.$shape" "$bin" check -q "$file"
			once "unwritten.$shape" "$bin" annotate -q "$file" -o /dev/null
			# The first file of a round is dear: a virtual machine may have to ask for the memory.
			written "cp.$shape" cp "$file" "$out"
			written "synced.$shape" dd "if=$file" "of=$out" bs=512K conv=fsync status=none
			written "annotate.$shape" "$bin" annotate -q "$file" -o "$out"
			once "analyze.$shape" "$bin" analyze --brief -q "$file"
			written "report.$shape" "$bin" report -q "$file" -o "$out"
		done
		pictures_of "$shape"
	done
	header "$(label "$size"), least times" processor "peak memory" wall "processor against the first" "wall against it"
	cat "$work/pictures"
	first_screen
}

# written NAME COMMAND... runs a command that writes to a file which is not there.
written() {
	rm -f "$out"
	once "$@"
	rm -f "$out"
}

# pictures_of SHAPE are its rows.
pictures_of() {
	local what=$1 title
	title=$(mixed_as "$what")
	picture "\`check\`, $title" "check.$what" "check.$what"
	picture "\`annotate -o FILE\`" "annotate.$what" "check.$what"
	picture "\`annotate -o /dev/null\`" "unwritten.$what" "check.$what"
	picture "\`cp\`" "cp.$what" "check.$what"
	picture "\`dd\` with \`conv=fsync\`" "synced.$what" "check.$what"
	picture "\`analyze --brief\`" "analyze.$what" "analyze.$what"
	picture "\`report -o FILE\`" "report.$what" "analyze.$what"
	bar "\`annotate -o /dev/null\` against \`check\`, processor, $title" "$(leastly "unwritten.$what" "check.$what" "$cpu")" "" 2 1.8 most
	bar "\`annotate -o FILE\` less \`dd\`, against \`check\`, processor, $title" "$(besides "$what" "$cpu")" "" 2 1.8 most
	bar "\`annotate -o FILE\` less \`dd\`, against \`check\`, wall, $title" "$(besides "$what" "$wall")" "" 2 1.8 most
	bar "\`report\` against \`analyze --brief\`, processor, $title" "$(leastly "report.$what" "analyze.$what" "$cpu")" "" 1.5 1.3 most
}

# mixed_as SHAPE in words.
mixed_as() {
	case $1 in
	plain) echo "64 connections, bulk" ;;
	mix) echo "64 connections, mixed" ;;
	flows10000) echo "10,000 connections, bulk" ;;
	mix10000) echo "10,000 connections, mixed" ;;
	esac
}

# leastly NAME OTHER COLUMN is the ratio of the least values.
leastly() { quotient "$(least "$1" "$3")" "$(least "$2" "$3")"; }

# besides SHAPE COLUMN is what annotate takes besides writing as much and waiting until a disk has it,
# against check.
besides() {
	local all writing
	all=$(least "annotate.$1" "$2") writing=$(least "synced.$1" "$2")
	quotient "$(awk "BEGIN { print $all - $writing }")" "$(least "check.$1" "$2")"
}

# picture TITLE NAME AGAINST keeps a row.
picture() {
	cells "$1" "$(seconds "$(least "$2" "$cpu")")" "$(megabytes "$(least "$2" "$rss")") MB" "$(seconds "$(least "$2" "$wall")")" \
		"$(two "$(leastly "$2" "$3" "$cpu")")" "$(two "$(leastly "$2" "$3" "$wall")")" >>"$work/pictures"
}

# first_screen says how long view takes until the first rows are there, on a terminal of tmux.
first_screen() {
	local i socket=$work/tmux from to
	if ! have tmux; then
		echo
		echo "tmux is not installed: \`view\` is left out."
		return
	fi
	for ((i = 0; i < ROUNDS; i++)); do
		from=$(date +%s%N)
		tmux -S "$socket" -f /dev/null new-session -d -x 120 -y 40 "$bin" view "$file"
		until tmux -S "$socket" capture-pane -p | grep -q '10\.'; do
			sleep 0.01
		done
		to=$(date +%s%N)
		tmux -S "$socket" kill-server
		echo "$from $to" | awk '{ print ($2 - $1) / 1e9, 0, 0 }' >>"$work/view"
	done
	header "$(label "$(sized "$file")") on a terminal of tmux" "first rows, least time"
	cells "\`view\`, $(mixed_as mix10000)" "$(seconds "$(least view 1)")"
}
