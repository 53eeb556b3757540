// Runs before the reference, whose generated style elements the content security policy would
// block. They get the nonce of this response; style elements in markup stay blocked.
const nonce = document.querySelector('meta[property=csp-nonce]').content

const { createElement } = document
document.createElement = (...args) => {
  const element = createElement.apply(document, args)
  if (element instanceof HTMLStyleElement) element.nonce = nonce
  return element
}
