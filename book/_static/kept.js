/* What the scripts of the book share: making an element, and keeping a text in this browser, which may refuse. */
"use strict";

window.book = {
  element(tag, properties = {}, ...children) {
    const made = Object.assign(document.createElement(tag), properties);
    made.append(...children);
    return made;
  },
  storage: {
    read(key) {
      try {
        return localStorage.getItem(key);
      } catch {
        return null; // a browser that keeps nothing
      }
    },
    write(key, value) {
      try {
        if (value === null) localStorage.removeItem(key);
        else localStorage.setItem(key, value);
      } catch {
        // it lasts as long as the page
      }
    },
  },
};
