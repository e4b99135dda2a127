# shellcheck shell=bash disable=SC2154 # variables of bench.sh
# Compressed captures, against the programs that only decompress.

section_compressed() {
	echo
	echo "## Compressed"
	capture plain "$packed"
	header "a capture of $(label "$(sized "$file")")" compressed "decompression alone" "\`analyze\`" processor "against decompression"
	compressed gz gzip
	compressed zst zstd
}

# compressed SUFFIX PROGRAM is a row for $file.
compressed() {
	local f=$file.$1 tool=$2 i
	if ! have "$tool"; then
		cells ".$1" "$tool is not installed" "" "" "" ""
		return
	fi
	if [[ ! -s $f || $f -ot $file ]]; then
		say "makes $f"
		"$tool" -qc "$file" >"$f.part"
		mv "$f.part" "$f"
	fi
	warm "$f"
	for ((i = 0; i < ROUNDS; i++)); do
		once "$tool" "$tool" -dc "$f"
		once "analyze.$1" "$bin" analyze -q "$f"
	done
	cells ".$1" "$(label "$(sized "$f")")" "$(seconds "$(median "$tool" "$wall")")" "$(seconds "$(median "analyze.$1" "$wall")")" \
		"$(seconds "$(median "analyze.$1" "$cpu")")" "$(two "$(ratio "analyze.$1" "$tool" "$wall")")"
	bar "\`analyze\` of .$1 against \`$tool -dc\`" "$(ratio "analyze.$1" "$tool" "$wall")" "" 1.6 1.05 most
}
