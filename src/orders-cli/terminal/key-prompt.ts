import { openSync } from 'node:fs'
import { ReadStream, WriteStream } from 'node:tty'
import { CommandError } from '../errors.ts'

const ENTER = /[\r\n]/
const INTERRUPT = '\u0003'
const END_OF_INPUT = '\u0004'
const ERASE = /[\b\u007f]/
const ERASE_LINE = '\u0015'
const PROMPT = 'Chave de API (não aparece enquanto você digita): '

/**
 * Prompts for the key on the controlling terminal, also if stdin is redirected.
 * @throws CommandError without a terminal, or for an empty line; the signal's reason
 */
export async function promptForKey(signal: AbortSignal): Promise<string> {
  const terminal = openTerminal()
  if (terminal === null) {
    throw new CommandError(
      'Falta a chave de API, e não há um terminal para perguntar: use a variável de ambiente ORDERS_API_KEY.',
    )
  }
  const { input, output } = terminal
  try {
    // Disables echo before the prompt, since a pasted key may follow at once.
    input.setRawMode(true)
    output.write(PROMPT)
    const key = await readHiddenLine(input, signal)
    if (key.trim() === '') throw new CommandError('Nenhuma chave foi digitada.')
    return key
  } finally {
    input.setRawMode(false)
    output.write('\n')
    if (input !== process.stdin) {
      input.destroy()
      output.destroy()
    } else {
      input.unref()
    }
  }
}

function openTerminal(): { input: ReadStream; output: WriteStream } | null {
  try {
    // Two descriptors, because each stream closes its own.
    const [input, output] = [openSync('/dev/tty', 'r'), openSync('/dev/tty', 'w')]
    return { input: new ReadStream(input), output: new WriteStream(output) }
  } catch {
    // Windows has no /dev/tty.
    return process.stdin.isTTY && process.stderr.isTTY
      ? { input: process.stdin, output: process.stderr }
      : null
  }
}

/**
 * Reads a line from a terminal in raw mode, where editing keys and Ctrl-C arrive as characters.
 * Ctrl-C still raises SIGINT.
 */
export function readHiddenLine(input: NodeJS.ReadableStream, signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    let line = ''

    function done(settle: () => void) {
      input.off('data', onData)
      input.off('end', onEnd)
      input.off('error', onError)
      signal.removeEventListener('abort', onAbort)
      input.pause()
      settle()
    }
    const onEnd = () => done(() => resolve(line))
    const onError = (error: Error) => done(() => reject(error))
    const onAbort = () => done(() => reject(signal.reason))

    function onData(chunk: Buffer | string) {
      for (const key of chunk.toString()) {
        if (key === INTERRUPT) return void process.emit('SIGINT', 'SIGINT')
        if (ENTER.test(key) || key === END_OF_INPUT) return done(() => resolve(line))
        if (key === ERASE_LINE) line = ''
        else if (ERASE.test(key)) line = line.slice(0, -1)
        else line += key
      }
    }

    input.on('data', onData)
    input.on('end', onEnd)
    input.on('error', onError)
    if (signal.aborted) onAbort()
    else signal.addEventListener('abort', onAbort)
  })
}
