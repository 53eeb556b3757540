import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import {
  type Line,
  type ParsedLine,
  parseLines,
  splitLines,
} from '../../../../src/indexing/sources/ndjson.ts'

const MIB = 1024 * 1024

async function* inChunks(chunks: readonly (string | Buffer)[]): AsyncGenerator<Buffer> {
  for (const chunk of chunks) yield Buffer.from(chunk)
}

const lineText = (line: Line) => ('bytes' in line ? line.bytes.toString() : 'too long')

async function collect(chunks: AsyncIterable<Buffer>, maxBytes: number): Promise<Line[]> {
  const lines: Line[] = []
  for await (const group of splitLines(chunks, maxBytes)) lines.push(...group)
  return lines
}

const linesOf = (chunks: readonly (string | Buffer)[], maxBytes = 1000) =>
  collect(inChunks(chunks), maxBytes)
const textsOf = async (chunks: readonly (string | Buffer)[], maxBytes?: number) =>
  (await linesOf(chunks, maxBytes)).map(lineText)

describe('splitLines', () => {
  it.each<[string, string[], string[]]>([
    ['nothing', [], []],
    ['an empty chunk', [''], []],
    ['a line', ['one\n'], ['one']],
    ['a last line without a line break', ['one\ntwo'], ['one', 'two']],
    ['empty lines', ['\n\none\n\n'], ['', '', 'one', '']],
    ['a line over three chunks', ['o', 'n', 'e\n'], ['one']],
    ['a line break at the start of a chunk', ['one', '\ntwo'], ['one', 'two']],
    ['a line break at the end of a chunk', ['one\n', 'two'], ['one', 'two']],
    ['empty chunks in between', ['on', '', 'e\n', '', 'two'], ['one', 'two']],
    ['a carriage return as part of the line', ['one\r\ntwo\r\n'], ['one\r', 'two\r']],
    ['other Unicode line breaks as text', ['a\rb\u2028c\u0085d\n'], ['a\rb\u2028c\u0085d']],
  ])('splitLines splits %s', async (_name, chunks, texts) => {
    expect(await textsOf(chunks)).toEqual(texts)
  })

  it('splitLines numbers the lines from 1, including empty ones', async () => {
    const numbered = (await linesOf(['a\n\nb'])).map((line) => [line.number, lineText(line)])
    expect(numbered).toEqual([
      [1, 'a'],
      [2, ''],
      [3, 'b'],
    ])
  })

  it('splitLines returns the same lines wherever the chunks are split', async () => {
    const text = Buffer.from('{"a":1}\n\nção 😀\nx\n{"b"')
    const whole = await textsOf([text])
    for (let first = 0; first <= text.length; first++) {
      for (let second = first; second <= text.length; second++) {
        const chunks = [
          text.subarray(0, first),
          text.subarray(first, second),
          text.subarray(second),
        ]
        expect(await textsOf(chunks)).toEqual(whole)
      }
    }
  })

  it('splitLines restores joined lines from any chunks', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.string({ unit: fc.constantFrom('a', 'ç', '\r', ' ') }), { minLength: 1 }),
        fc.integer({ min: 1, max: 9 }),
        async (lines, chunkBytes) => {
          const text = Buffer.from(`${lines.join('\n')}\n`)
          const count = Math.ceil(text.length / chunkBytes)
          const chunks = Array.from({ length: count }, (_, at) =>
            text.subarray(at * chunkBytes, (at + 1) * chunkBytes),
          )
          expect(await textsOf(chunks)).toEqual(lines)
        },
      ),
    )
  })
})

it('a line is parsed once its chunk arrives, in a stream that stays open', async () => {
  async function* open() {
    yield Buffer.from('{"a":1}\n{"b":2}\n{"c"')
    await new Promise(() => {})
  }
  const { value } = await parseLines(open(), 2).next()
  expect(value.map(({ lineNumber }: ParsedLine) => lineNumber)).toEqual([2])
})

describe('a line that is too long', () => {
  it.each([
    ['at the limit is accepted', 'x'.repeat(10), 'x'.repeat(10)],
    ['one byte over the limit is too long', 'x'.repeat(11), 'too long'],
    ['over the limit in bytes but not in characters is too long', 'ç'.repeat(6), 'too long'],
  ])('a line %s', async (_name, line, result) => {
    expect(await textsOf([`${line}\n`], 10)).toEqual([result])
  })

  it('a line that is too long does not affect the lines around it', async () => {
    const lines = await linesOf(['one\n', 'x'.repeat(50), 'x\ntwo\n'], 10)
    expect(lines.map((line) => [line.number, lineText(line)])).toEqual([
      [1, 'one'],
      [2, 'too long'],
      [3, 'two'],
    ])
  })

  it('a line that is too long is reported at the end of the input', async () => {
    expect(await textsOf(['x'.repeat(50)], 10)).toEqual(['too long'])
  })

  it('a line that is too long is reported once, wherever its chunks are split', async () => {
    const text = `${'x'.repeat(25)}\nok\n`
    for (let at = 0; at <= text.length; at++) {
      expect(await textsOf([text.slice(0, at), text.slice(at)], 10)).toEqual(['too long', 'ok'])
    }
  })

  it('a line that is too long is not buffered', async () => {
    const before = bytesHeld()
    async function* endless() {
      for (let n = 0; n < 32; n++) yield Buffer.alloc(MIB, 'x')
      // The garbage collector frees buffers later.
      await vi.waitFor(() => expect(bytesHeld() - before).toBeLessThan(4 * MIB), 5000)
    }
    expect(await collect(endless(), 1000)).toEqual([{ number: 1, tooLong: true }])
  })
})

/** The bytes of all referenced buffers. */
function bytesHeld(): number {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
  return process.memoryUsage().arrayBuffers
}
