import { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { readHiddenLine } from '../../../../src/orders-cli/terminal/key-prompt.ts'

function type(...chunks: string[]) {
  const input = new PassThrough()
  for (const chunk of chunks) input.write(chunk)
  return readHiddenLine(input, new AbortController().signal)
}

describe('a hidden line', () => {
  it.each([
    ['ends with Enter', ['abc\r'], 'abc'],
    ['ends with a line feed', ['abc\n'], 'abc'],
    ['ends with Ctrl-D', ['abc\u0004'], 'abc'],
    ['may arrive in chunks', ['a', 'b', 'c\rd'], 'abc'],
    ['may be corrected with backspace', ['abx\u007fc\r'], 'abc'],
    ['may be erased with Ctrl-U', ['xyz\u0015abc\r'], 'abc'],
  ])('a hidden line %s', async (_what, chunks, line) => {
    expect(await type(...chunks)).toBe(line)
  })

  it('rejects when the command is interrupted', async () => {
    const controller = new AbortController()
    const line = readHiddenLine(new PassThrough(), controller.signal)
    controller.abort(new Error('interrupted'))
    await expect(line).rejects.toThrow('interrupted')
  })
})
