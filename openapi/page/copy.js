const SHOWN_MS = 2000

/** Adds a button to every block of code that copies it. */
export function addCopyButtons() {
  for (const block of document.querySelectorAll('.code')) {
    const button = document.createElement('button')
    button.type = 'button'
    button.className = 'copy'
    button.textContent = 'Copiar'
    button.addEventListener('click', () => copy(button, block.querySelector('pre').textContent))
    block.append(button)
  }
}

async function copy(button, text) {
  try {
    await navigator.clipboard.writeText(text)
    button.textContent = 'Copiado'
  } catch {
    // The clipboard exists only on https:// and on this machine.
    button.textContent = 'Não foi possível copiar'
  }
  setTimeout(() => {
    button.textContent = 'Copiar'
  }, SHOWN_MS)
}
