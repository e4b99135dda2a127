-- Tells which frames each filter of a file matches: a line for each filter, with its
-- number, a tab, and the numbers of the frames, or ! and the error. Run by tshark -X
-- lua_script, so that one run serves thousands of filters.
local filters = {}
for line in io.lines(os.getenv("IWDISSECT_FILTERS")) do
	local f = { frames = {} }
	local ok, err = pcall(function()
		local tap = Listener.new("frame", line)
		tap.packet = function(pinfo) f.frames[#f.frames + 1] = pinfo.number end
	end)
	if not ok then
		f.err = tostring(err):gsub("%c", " ")
	end
	filters[#filters + 1] = f
end

local last = Listener.new("frame")
function last.draw()
	local out = assert(io.open(os.getenv("IWDISSECT_MATCHES"), "w"))
	for i, f in ipairs(filters) do
		out:write(i, "\t", f.err and "!" .. f.err or table.concat(f.frames, " "), "\n")
	end
	out:close()
end
