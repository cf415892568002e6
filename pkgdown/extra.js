// The list of headings beside an article. pkgdown's own needs scripts from the network.
document.addEventListener("DOMContentLoaded", () => {
  const toc = document.getElementById("toc");
  if (!toc) return;
  const list = document.createElement("ul");
  for (const heading of document.querySelectorAll("main h2, main h3")) {
    const target = heading.closest("[id]");
    if (target.id === "main") continue;
    const link = document.createElement("a");
    link.href = "#" + target.id;
    link.textContent = heading.textContent.trim();
    const item = document.createElement("li");
    item.className = heading.tagName.toLowerCase();
    item.append(link);
    list.append(item);
  }
  toc.append(list);
});
