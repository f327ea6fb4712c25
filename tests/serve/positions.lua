-- For wrk: asks /v1/probe for one line after another of the file that FENS names.
local paths, last = {}, 0
for fen in io.lines(os.getenv("FENS")) do
   paths[#paths + 1] = "/v1/probe?fen=" .. (fen:gsub("/", "%%2F"):gsub(" ", "+"))
end

request = function()
   last = last % #paths + 1
   return wrk.format("GET", paths[last])
end
