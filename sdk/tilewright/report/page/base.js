"use strict";
// What all scripts of a page use.
const all = (selector, root = document) => [...root.querySelectorAll(selector)];
const one = (id) => document.getElementById(id);
const svgNS = "http://www.w3.org/2000/svg";
function make(tag, text, parent, name) {
  const element = document.createElement(tag);
  element.textContent = text;
  if (name) element.className = name;
  return parent.appendChild(element);
}
