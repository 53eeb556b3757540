// Runs before the reference, which makes elements of style that the page's policy would refuse: they get the nonce of
// this answer. Those that come in markup stay refused.
const nonce = document.querySelector('meta[property=csp-nonce]').content

const { createElement } = document
document.createElement = (...args) => {
  const element = createElement.apply(document, args)
  if (element instanceof HTMLStyleElement) element.nonce = nonce
  return element
}
