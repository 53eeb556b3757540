import { openSync } from 'node:fs'
import { ReadStream, WriteStream } from 'node:tty'
import { Failure } from '../faults.ts'
import { readHidden } from './hidden-line.ts'

const QUESTION = 'Chave de API (não aparece enquanto você digita): '

/**
 * Asks for the key on the terminal, whatever stdin is.
 * @throws Failure where there is no terminal, or nothing was typed; the signal's own abort
 */
export async function askForKey(signal: AbortSignal): Promise<string> {
  const terminal = openTerminal()
  if (terminal === null) {
    throw new Failure(
      'Falta a chave de API, e não há um terminal em que perguntar: ponha-a na variável de ambiente ORDERS_API_KEY.',
    )
  }
  const { input, output } = terminal
  try {
    input.setRawMode(true) // Nothing is echoed; before the question, which a pasted key follows at once.
    output.write(QUESTION)
    const key = await readHidden(input, signal)
    if (key.trim() === '') throw new Failure('Nenhuma chave foi digitada.')
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
    // Two descriptors, since each stream closes its own.
    const [input, output] = [openSync('/dev/tty', 'r'), openSync('/dev/tty', 'w')]
    return { input: new ReadStream(input), output: new WriteStream(output) }
  } catch {
    // There is no such file on Windows.
    return process.stdin.isTTY && process.stderr.isTTY
      ? { input: process.stdin, output: process.stderr }
      : null
  }
}
