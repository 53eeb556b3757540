/** Closes the menu of a phone when a link in it was followed. */
export function closeMenuOnChoice() {
  const menu = document.querySelector('#menu')
  menu.addEventListener('click', (event) => {
    if (event.target.closest('a') && menu.matches(':popover-open')) menu.hidePopover()
  })
}
