-- Neovim's own client and `interleaver lsp`: the lenses, one of them run, the diagnostics. Prints what it saw as JSON.
local folder, source = vim.env.WORKSPACE, vim.env.SOURCE

local function wait(what, holds)
  if not vim.wait(30000, holds, 20) then
    io.stderr:write('no ' .. what .. ' in 30 s\n')
    vim.cmd('cquit 3')
  end
end

vim.cmd('edit ' .. vim.fn.fnameescape(source))
local buffer = vim.api.nvim_get_current_buf()
local id = vim.lsp.start_client({
  cmd = { vim.env.SERVER, 'lsp' },
  root_dir = folder,
  workspace_folders = { { uri = vim.uri_from_fname(folder), name = 'workspace' } },
})
vim.lsp.buf_attach_client(buffer, id)
wait('server', function() return vim.lsp.get_client_by_id(id).initialized end)

local function lenses()
  local shown = {}
  for _, lens in ipairs(vim.lsp.codelens.get(buffer)) do
    table.insert(shown, { line = lens.range.start.line, title = lens.command.title })
  end
  return shown
end

-- All lenses, once there is one that begins so.
local function lenses_with(start)
  wait('lens ' .. start, function()
    vim.lsp.codelens.refresh()
    for _, lens in ipairs(lenses()) do
      if vim.startswith(lens.title, start) then return true end
    end
    return false
  end)
  return lenses()
end

local before = lenses_with('▶')
vim.api.nvim_win_set_cursor(0, { before[1].line + 1, 0 })
vim.lsp.codelens.run()
wait('diagnostic', function() return #vim.diagnostic.get(buffer) > 0 end)
local diagnostics = {}
for _, found in ipairs(vim.diagnostic.get(buffer)) do
  local severity, message = found.severity, found.message
  table.insert(diagnostics, { line = found.lnum, severity = severity, source = found.source, message = message })
end
local after = lenses_with('✗')
io.stdout:write(vim.json.encode({ before = before, diagnostics = diagnostics, after = after }))
vim.cmd('qall!')
